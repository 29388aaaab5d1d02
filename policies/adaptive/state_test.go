package adaptive

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// TestStateIsBounded: a state has at most 16 KiB.
func TestStateIsBounded(t *testing.T) {
	t.Parallel()
	p := NewWith(NewTeam())
	r := p.room
	long := func(i int) string { return fmt.Sprintf("%064d", i) }
	r.turns = maxNumber
	for i := range maxPeople {
		q := person{id: long(i), turn: maxNumber - i, fast: 12.345678}
		q.part = [parts]float64{19.123456, 19.123456, 19.123456, .123456}
		r.people = append(r.people, q)
	}
	r.last = turn{addressed: long(1), named: long(2), words: slices.Repeat([]int{1<<stemBits - 1}, 2*maxWords)}
	for class := range r.recency {
		for b := range r.recency[class] {
			r.recency[class][b] = maxNumber
		}
	}
	if n := len(r.save()); n > maxState || n < maxState/4 {
		t.Errorf("the largest state has %d bytes, want at most %d", n, maxState)
	}
}

// largeRoom returns a room of n participants, of which a few speak most and
// mention others.
func largeRoom(n int, seed uint64) (agents []policy.Agent, next func() policy.Event) {
	rng := rand.New(rand.NewPCG(seed, seed))
	for i := range n {
		id := fmt.Sprintf("p%03d", i)
		agents = append(agents, policy.Agent{ID: id, Name: id, Kind: []string{policy.Local, policy.Human}[i%2], Domains: []string{"subject" + string(rune('A'+i%26)), fmt.Sprintf("%c%c%c", 'a'+i%26, 'b'+i%7, 'c')}, Eligible: true})
	}
	seq := int64(0)
	return agents, func() policy.Event {
		seq++
		who := func() string { return agents[min(rng.IntN(n), rng.IntN(n))].ID }
		e := policy.Event{Seq: seq, From: who(), Kind: policy.KindMessage, Text: "well"}
		for range rng.IntN(9) {
			id := who()
			e.Text += fmt.Sprintf(" %c%c%c ", 'a'+rng.IntN(26), 'b'+rng.IntN(7), 'c') + id + []string{",", ":", "?", "", "```"}[rng.IntN(5)]
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
		p, q := NewWith(NewTeam()), NewWith(NewTeam())
		var state policy.JSON
		for k := range 600 {
			in := policy.Input{ABI: policy.ABI, Agents: agents, Events: []policy.Event{next()}, State: state}
			state = bytes.Clone(p.Decide(&in).State)
			if q.room.restore(state); q.room.turns != p.room.turns {
				t.Fatalf("%d people, turn %d: the state was not read: %s", n, k, state)
			}
			if got := q.room.save(); !bytes.Equal(got, state) {
				t.Fatalf("%d people, turn %d: read and written again it is\n%s\nnot\n%s", n, k, got, state)
			}
		}
	}
}

// TestSameBytes: another instance answers the same, and so does one that decided
// about other rooms before.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	agents, next := largeRoom(30, 1)
	others, other := largeRoom(7, 2)
	used, state := New(), policy.JSON(nil)
	for k := range 200 {
		used.Decide(&policy.Input{Agents: others, Events: []policy.Event{other(), other()}})
		in := policy.Input{ABI: policy.ABI, Agents: agents, Events: []policy.Event{next(), next()}, State: state}
		fresh := New().Decide(&in)
		want, d := fresh.AppendJSON(nil), used.Decide(&in)
		if got := d.AppendJSON(nil); !bytes.Equal(got, want) {
			t.Fatalf("turn %d: %s, then %s", k, want, got)
		}
		state = bytes.Clone(fresh.State)
	}
}

// TestOtherSettings: a state that a policy with a team left is read by one without,
// and the other way round. The weights begin again.
func TestOtherSettings(t *testing.T) {
	t.Parallel()
	agents, next := largeRoom(5, 7)
	var state policy.JSON
	for k := range 60 {
		var team *Team
		if k%20 >= 10 {
			team = NewTeam()
		}
		p := NewWith(team)
		in := policy.Input{Agents: agents, Events: []policy.Event{next()}, State: state}
		state = bytes.Clone(p.Decide(&in).State)
		sum := 0.0
		for _, a := range p.room.weights {
			sum += a
		}
		if sum < .999 || sum > 1.001 || (p.room.weights[taught] > 0) != (team != nil) || p.room.turns < k/2 {
			t.Fatalf("turn %d: weights %v after %d turns", k, p.room.weights, p.room.turns)
		}
	}
}

// FuzzRestore: a state that cannot be read counts as none, and one that can gives a
// decision.
func FuzzRestore(f *testing.F) {
	agents, next := largeRoom(5, 4)
	p := New()
	var state policy.JSON
	for range 40 {
		in := policy.Input{Agents: agents, Events: []policy.Event{next()}, State: state}
		state = bytes.Clone(p.Decide(&in).State)
		f.Add(string(state))
	}
	f.Add(`["CAAA"]`)
	f.Add(`[]`)
	f.Add(strings.Replace(string(state), "[\"C", "[\"D", 1))
	e := next()
	f.Fuzz(func(t *testing.T, state string) {
		in := policy.Input{Agents: agents, Events: []policy.Event{e}, State: policy.JSON(state)}
		d := New().Decide(&in)
		out := d.AppendJSON(nil)
		if _, err := policy.DecodeDecision(out); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	})
}

// TestCrowdedInput: the largest input there is.
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
	if d.Action != policy.ActionSpeak || len(d.State) > maxState {
		t.Errorf("%s, a state of %d bytes", d.Action, len(d.State))
	}
}
