package room_test

import (
	"cmp"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// The rules of drafts, their answers and modes, as the model states them.

// review states what a person may do with the draft that waits.
func (m *model) review(do room.Act) bool {
	t, d, live := m.turn, m.turn.draft, m.phase == room.PhaseLive
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
		d.Draft, d.Message.Text = draftOf(t.Request, do.Text), do.Text
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
func (m *model) again(do room.Act) bool {
	hash := ""
	switch do := do.(type) {
	case room.Approve:
		hash = do.Draft
	case room.Edit:
		hash = do.Draft
	case room.Reject:
		hash = do.Draft
	}
	m.second = m.answered[hash] && (m.turn == nil || m.turn.draft == nil || m.turn.draft.Draft != hash)
	return m.second
}

// settleDraft notes that the draft with that hash has its answer.
func (m *model) settleDraft(hash string) { m.answered[hash], m.lastDraft = true, hash }

// unanswered reports whether the time of the draft that waits is over.
func (m *model) unanswered() bool {
	return m.turn != nil && m.turn.draft != nil && m.limits.DraftTimeout > 0 && m.now >= m.turn.drafted+m.limits.DraftTimeout
}

// setMode changes the mode of a seat until the room ends.
func (m *model) setMode(do room.SetMode) bool {
	x := m.seat(do.Participant)
	runs := m.phase == room.PhaseLive || m.phase == room.PhasePaused
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
func (x *modelSeat) mode() room.Mode { return cmp.Or(x.set, x.Mode) }
