package reference

import (
	"cmp"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// The rules of drafts, their answers and modes, as the model states them.

// review states what a person may do with the draft that waits.
func (m *Model) review(do room.Act) bool {
	t, d, live := m.Turn, m.Turn.Draft, m.Phase == room.PhaseLive
	switch do := do.(type) {
	case room.Reject:
		if do.Draft != d.Draft {
			return false
		}
		m.settleDraft(d.Draft)
		return m.endTurn(room.TurnRejected{Turn: t.Turn, Draft: d.Draft, Reason: do.Reason})
	case room.Edit:
		if do.Draft != d.Draft || do.Approve && !live {
			return false
		}
		m.settleDraft(d.Draft)
		t.drafted = max(m.clock, m.now)
		d.Draft, d.Message.Text = DraftOf(t.Request, do.Text), do.Text
		m.note(room.TurnEdited{Turn: t.Turn, Draft: d.Draft, Text: do.Text})
		if !do.Approve {
			return true
		}
	case room.Approve:
		if do.Draft != d.Draft || !live {
			return false
		}
	}
	m.settleDraft(d.Draft)
	m.note(room.TurnApproved{Turn: t.Turn, Draft: d.Draft})
	return m.post(room.MessagePosted{Turn: t.Turn, Message: d.Message, Usage: d.Usage, Latency: d.Latency})
}

// again reports whether do answers a draft that was answered before.
func (m *Model) again(do room.Act) bool {
	hash := ""
	switch do := do.(type) {
	case room.Approve:
		hash = do.Draft
	case room.Edit:
		hash = do.Draft
	case room.Reject:
		hash = do.Draft
	}
	m.second = m.answered[hash] && (m.Turn == nil || m.Turn.Draft == nil || m.Turn.Draft.Draft != hash)
	return m.second
}

// settleDraft notes that the draft with that hash has its answer.
func (m *Model) settleDraft(hash string) { m.answered[hash], m.LastDraft = true, hash }

// unanswered reports whether the time of the draft that waits is over.
func (m *Model) unanswered() bool {
	return m.Turn != nil && m.Turn.Draft != nil && m.Limits.DraftTimeout > 0 && m.now >= m.Turn.drafted+m.Limits.DraftTimeout
}

// setMode changes the mode of a seat until the room ends.
func (m *Model) setMode(do room.SetMode) bool {
	x := m.seat(do.Participant)
	runs := m.Phase == room.PhaseLive || m.Phase == room.PhasePaused
	if !runs || x == nil || x.Kind == policy.Human || x.standing == room.Removed || do.Mode == "other" {
		return false
	}
	if x.set != do.Mode {
		x.set = do.Mode
		m.note(room.ModeChanged{Participant: x.ID, Mode: do.Mode})
	}
	return true
}

// mode returns the mode of a seat in force.
func (x *Seat) mode() room.Mode { return cmp.Or(x.set, x.Mode) }
