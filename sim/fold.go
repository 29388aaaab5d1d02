package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/folkmoot/moot/room"
)

// fold applies an event of the log. Where the log has only the digest of the policy's
// state, it asks the policy again with the recorded input.
func (h *hosted) fold(e room.Event) {
	defer h.noteText(e)
	rec := room.RecordOf(e)
	if rec == nil || rec.State == h.state.Policy.Digest || rec.StateJSON != nil || rec.State == "" || rec.Code != "" {
		h.state.Apply(e)
		return
	}
	in, err := h.state.RecordedInput(rec, h.textOf)
	if err != nil {
		h.s.violate("E2", h.id, err.Error())
		return
	}
	h.s.at(moment{kind: onPolicyState, room: h})
	d, _ := propose(h.facts.style, &in, h.s.faults)
	state := room.NextPolicyState(in.State, d.State)
	if got := room.PolicyStateDigest(state); got != rec.State && len(h.stubs()) == 0 {
		h.s.violate("E2", h.id, fmt.Sprintf("decision %d gave the state %s, and %s again", rec.Decision, rec.State, got))
	}
	h.state.Apply(e)
	h.state.SetPolicyState(state)
}

// stubs returns the events of the room whose text was removed.
func (h *hosted) stubs() map[int64]bool {
	if l := h.s.disk.logs[h.id]; l != nil {
		return l.stubs
	}
	return nil
}

// folded returns a room that is the fold of events.
func (f *facts) folded(s *simulation, events []room.Event) *hosted {
	h := &hosted{s: s, facts: f, id: f.spec.Room}
	for _, e := range events {
		h.fold(e)
	}
	return h
}

// snapshotEvery is how many events lie between two snapshots at least.
const snapshotEvery = 20

// maybeSnapshot stores the state of the room. It is not a fault to have none.
func (h *hosted) maybeSnapshot() {
	old, l := h.s.disk.snapshot[h.id], h.s.disk.logs[h.id]
	if l == nil || h.state.Seq > int64(len(l.raws)) || h.state.Seq < old.seq+snapshotEvery || !h.s.src.percent(20) {
		return
	}
	h.s.disk.snapshot[h.id] = snapshot{h.state.Seq, l.hashes[h.state.Seq-1], encoded(&h.state)}
}

// restore goes on from the newest snapshot, if it matches the log, and checks that the
// fold of the log gives the same state.
func (h *hosted) restore(events []room.Event) {
	snap, ok := h.s.disk.snapshot[h.id]
	l := h.s.disk.logs[h.id]
	if !ok || snap.seq > int64(len(events)) || l.hashes[snap.seq-1] != snap.hash {
		return
	}
	was := &hosted{s: h.s, facts: h.facts, id: h.id, texts: h.texts}
	if err := json.Unmarshal(snap.data, &was.state); err != nil {
		h.s.violate("G12", h.id, err.Error())
		return
	}
	was.state.CompileNames()
	for _, e := range events[snap.seq:] {
		was.texts = h.texts
		was.fold(e)
	}
	h.s.at(moment{kind: onSnapshot, room: h})
	if !bytes.Equal(encoded(&was.state), encoded(&h.state)) {
		h.s.violate("G12", h.id, fmt.Sprintf("the snapshot at event %d does not lead to the state of the log: %s", snap.seq, difference(&was.state, &h.state)))
	}
	h.state, h.restored = was.state, true
}

// reopened compares the fold of the log with the state that the process had.
func (f *facts) reopened(s *simulation, h *hosted, events []room.Event) {
	if f.live == nil {
		return
	}
	folded := h
	if f.liveSeq < h.state.Seq {
		folded = f.folded(s, events[:f.liveSeq])
	}
	same := reflect.DeepEqual(&folded.state, f.live)
	if f.restored { // empty lists may be nil or not
		same = bytes.Equal(encoded(&folded.state), encoded(f.live))
	}
	if !same {
		s.violate("G10", h.id, fmt.Sprintf("the fold of the log is not the live state at event %d: %s", f.liveSeq, difference(&folded.state, f.live)))
	}
	f.live = nil
}

// left notes the state that a process leaves.
func (f *facts) left(h *hosted) { f.live, f.liveSeq, f.restored = &h.state, h.state.Seq, h.restored }

// difference names the first field in which two states differ.
func difference(a, b *room.State) string {
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range x.NumField() {
		if !reflect.DeepEqual(field(x, i), field(y, i)) {
			return x.Type().Field(i).Name
		}
	}
	return ""
}

func field(v reflect.Value, i int) any {
	if f := v.Field(i); f.CanInterface() {
		return f.Interface()
	}
	return nil
}

// end checks a room at the end of a run.
func (f *facts) end(s *simulation) {
	h := s.room(f.spec.Room)
	if h == nil || h.batch != nil || len(h.boot) > 0 {
		return
	}
	events, err := s.disk.read(s, h.id)
	if err != nil {
		s.violate("G7", h.id, err.Error())
		return
	}
	f.left(h)
	f.reopened(s, f.folded(s, events), events)
	f.ended(s, &h.state, events)
}

// eventsWith returns the other events that hold the text of the message at seq.
func (h *hosted) eventsWith(seq int64) (found []int64) {
	l := h.s.disk.logs[h.id]
	if l == nil || seq < 1 || seq > int64(len(l.events)) {
		return nil
	}
	posted, ok := l.events[seq-1].Body.(room.MessagePosted)
	if !ok {
		return nil
	}
	if ref, ok := posted.Message.PayloadRef(); ok {
		if at, ok := h.state.StoredPayload(ref.Digest); ok {
			found = append(found, at)
		}
	}
	if seq < int64(len(l.events)) {
		if b, ok := l.events[seq].Body.(room.PlanChanged); ok && b.Message == posted.Message.ID {
			found = append(found, seq+1)
		}
	}
	for at := seq - 1; at > 0 && posted.Turn != 0 && !posted.Auto; at-- {
		switch b := l.events[at-1].Body.(type) {
		case room.TurnDrafted:
			if b.Turn == posted.Turn {
				found = append(found, at)
			}
		case room.TurnEdited:
			if b.Turn == posted.Turn {
				found = append(found, at)
			}
		case room.TurnGranted:
			if b.Turn == posted.Turn {
				return found
			}
		}
	}
	return found
}

// redact removes the texts of redacted events from the log, and folds it again, because
// the state may hold those texts anywhere.
func (h *hosted) redact() {
	l := h.s.disk.logs[h.id]
	changed := false
	for _, e := range l.events {
		b, ok := e.Body.(room.Redacted)
		if ok && !l.stubs[b.Target] {
			if l.stubs == nil {
				l.stubs = map[int64]bool{}
			}
			l.stubs[b.Target], changed = true, true
			l.events[b.Target-1] = l.events[b.Target-1].Redacted()
		}
	}
	if !changed {
		return
	}
	delete(h.s.disk.snapshot, h.id)
	again := h.facts.folded(h.s, l.events[:h.facts.check.applied])
	h.state, h.texts, h.restored = again.state, again.texts, false
	h.facts.check.Refolded(&h.state)
}
