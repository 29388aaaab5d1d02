package adaptive

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// mostBytes is what a state may take.
const mostBytes = 16 << 10

// full is a room whose every counter takes as many digits as it can.
func full(p *Policy) *room {
	r := p.room
	r.reset()
	r.turns, r.streak, r.class = maxNumber, maxNumber, [2]int{newcomer, newcomer}
	for i := range maxPeople {
		q := person{id: 1<<32 - 1, slot: maxPeople - 1, turn: maxNumber - i, count: maxNumber, fast: 16, marked: true, asked: true}
		q.named.n = maxNames
		r.people = append(r.people, q)
	}
	r.last.names, r.before.number, r.before.named.n = maxNames, maxNumber-1, maxNames
	for range maxWords {
		r.last.bag = append(r.last.bag, 1<<16-1)
	}
	for i := range r.law2 {
		r.law2[i] = maxCount16
		r.inLaw2.set(i)
	}
	for i := range r.cells {
		r.cells[i] = 1<<64 - 1
		r.inCells.set(i)
	}
	for i := range r.kinds {
		for j := range r.kinds[i] {
			r.kinds[i][j] = maxCount16
		}
	}
	r.weighed = true
	r.rows = r.all[:]
	for i := range r.rows {
		r.rows[i].has, r.rows[i].size = 1<<features-1, 2
	}
	return r
}

// TestStateIsBounded: a state has at most 16 KiB.
func TestStateIsBounded(t *testing.T) {
	t.Parallel()
	p := NewWith(nil, &Team{})
	if n := len(full(p).save(p.model)); n > mostBytes || n < mostBytes/2 {
		t.Errorf("the largest state has %d bytes, want at most %d", n, mostBytes)
	}
}

// largeRoom returns a room of n participants, of which a few speak most and
// mention others.
func largeRoom(n int, seed uint64) (agents []policy.Agent, next func() policy.Event) {
	rng := rand.New(rand.NewPCG(seed, seed))
	for i := range n {
		id := fmt.Sprintf("p%03d", i)
		agents = append(agents, policy.Agent{ID: id, Name: id, Kind: []string{policy.Local, policy.Human}[i%2], Eligible: true})
	}
	seq := int64(0)
	return agents, func() policy.Event {
		seq++
		who := func() string { return agents[min(rng.IntN(n), rng.IntN(n))].ID }
		e := policy.Event{Seq: seq, From: who(), Kind: policy.KindMessage, Text: "well"}
		for range rng.IntN(9) {
			id := who()
			e.Text += " " + id + []string{",", ":", "?", "", " please"}[rng.IntN(5)]
			if id != e.From && !policy.Has(e.Mentions, id) {
				e.Mentions = append(e.Mentions, id)
			}
		}
		if len(e.Mentions) > 0 && rng.IntN(2) == 0 {
			e.Addressed = e.Mentions[len(e.Mentions)-1:]
		}
		return e
	}
}

// TestStateComesBack: what is read is what was written, and writing it again
// gives the same bytes.
func TestStateComesBack(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 13, 40, 90} {
		agents, next := largeRoom(n, uint64(n))
		p, q := New(), New()
		var state policy.JSON
		for k := range 600 {
			in := policy.Input{ABI: policy.ABI, Agents: agents, Events: []policy.Event{next()}, State: state}
			state = append(policy.JSON(nil), p.Decide(&in).State...)
			if len(state) > mostBytes {
				t.Fatalf("%d people, turn %d: a state of %d bytes", n, k, len(state))
			}
			q.room.restore(state)
			if q.room.turns != p.room.turns || len(q.room.people) != len(p.room.people) {
				t.Fatalf("%d people, turn %d: the state was not read", n, k)
			}
			kept := withoutNotes(q, state)
			if got := bytes.Clone(q.room.save(q.model)); !bytes.Equal(withoutNotes(q, got), kept) {
				t.Fatalf("%d people, turn %d: read and written again it is\n%s\nnot\n%s", n, k, got, kept)
			}
		}
	}
}

// TestSameBytes: another instance answers the same, and so does one that
// decided about other rooms before.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	agents, next := largeRoom(30, 1)
	others, other := largeRoom(7, 2)
	used, state := New(), policy.JSON(nil)
	for k := range 200 {
		used.Decide(&policy.Input{Agents: others, Events: []policy.Event{other(), other()}})
		in := policy.Input{ABI: policy.ABI, Agents: agents, Events: []policy.Event{next(), next()}, State: state}
		maxPending := New().Decide(&in)
		want, d := maxPending.AppendJSON(nil), used.Decide(&in)
		if got := d.AppendJSON(nil); !bytes.Equal(got, want) {
			t.Fatalf("turn %d: %s, then %s", k, want, got)
		}
		state = append(policy.JSON(nil), maxPending.State...)
	}
}

// TestRecallIsWitness: learning from what the state holds of a decision is
// learning from the decision.
func TestRecallIsWitness(t *testing.T) {
	t.Parallel()
	agents, next := largeRoom(9, 3)
	byState, byRows := New(), New()
	var a, b policy.JSON
	for range 300 {
		e := next()
		in := policy.Input{ABI: policy.ABI, Agents: agents, Events: []policy.Event{e}}
		in.State = a
		a = append(policy.JSON(nil), byState.Decide(&in).State...)
		in.State = b
		in.State = withoutNotes(byRows, b)
		b = append(policy.JSON(nil), byRows.Decide(&in).State...)
	}
	for j := range byState.model.n {
		if x, y := byState.room.weights[j], byRows.room.weights[j]; x < y-.02 || x > y+.02 {
			t.Errorf("component %d has the weight %.4f by the state and %.4f by the rows", j, x, y)
		}
	}
	for f := range roomFeatures {
		if x, y := byState.room.correction[f], byRows.room.correction[f]; x < y-.01 || x > y+.01 {
			t.Errorf("feature %s is corrected by %.4f by the state and %.4f by the rows", FeatureNames[f], x, y)
		}
	}
}

// withoutNotes returns a state with the records cut off, so that all is worked
// out again.
func withoutNotes(p *Policy, state policy.JSON) policy.JSON {
	if state == nil {
		return nil
	}
	p.room.restore(state)
	all := newDecoder(string(state[1 : len(state)-1])).b
	p.room.packed = all[:len(all)-len(p.room.noted)]
	return bytes.Clone(p.room.write())
}

// FuzzRestore: a state that cannot be read counts as none, and one that can
// gives a decision.
func FuzzRestore(f *testing.F) {
	agents, next := largeRoom(5, 4)
	p := New()
	var state policy.JSON
	for range 40 {
		in := policy.Input{Agents: agents, Events: []policy.Event{next()}, State: state}
		state = append(policy.JSON(nil), p.Decide(&in).State...)
		f.Add(string(state[1 : len(state)-1]))
	}
	f.Add("BAAA")
	f.Add("")
	e := next()
	f.Fuzz(func(t *testing.T, digits string) {
		var w policy.Writer
		w.String(digits)
		in := policy.Input{Agents: agents, Events: []policy.Event{e}, State: w.Bytes()}
		d := New().Decide(&in)
		out := d.AppendJSON(nil)
		if _, err := policy.DecodeDecision(out); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if len(d.State) > mostBytes {
			t.Fatalf("a state of %d bytes", len(d.State))
		}
	})
}

// TestCrowdedInput: the largest input there is, of messages that name as many
// as they can, is read in part.
func TestCrowdedInput(t *testing.T) {
	t.Parallel()
	agents, next := largeRoom(100, 9)
	in := policy.Input{ABI: policy.ABI, Init: true, Agents: agents}
	for len(in.Events) < policy.MaxEvents {
		e := next()
		e.Text += strings.Repeat(" p001 or p002?", 140)
		in.Events = append(in.Events, e)
	}
	d := New().Decide(&in)
	if d.Action != policy.ActionSpeak || len(d.State) > mostBytes {
		t.Errorf("%s, a state of %d bytes", d.Action, len(d.State))
	}
}
