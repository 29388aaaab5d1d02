package sim

import "github.com/folkmoot/moot/room"

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
