package transcripts

import (
	"fmt"
	"strings"

	"github.com/folkmoot/moot/room"
)

// tell fills it in from a body that is neither a message nor a decision. It
// reports whether there is anything to tell.
func (it *item) tell(body room.Body, t *teller) bool {
	it.Kind = isNote
	switch b := body.(type) {
	case room.Joined, room.SeatChanged, room.SeatTaken, room.SeatReleased, room.SeatForgot:
		it.Note = seatNote(body)
	case room.TurnDrafted, room.TurnEdited, room.TurnApproved, room.TurnRejected:
		return it.draft(body, t)
	case room.TurnPassed:
		it.end(t, isNote, b.Turn, t.turn, t.turn+" passed", b.Reason)
	case room.TurnFailed:
		it.end(t, isTrouble, b.Turn, t.turn, "failed", b.Code+": "+b.Error)
	case room.TurnInterrupted:
		it.end(t, isTrouble, b.Turn, t.turn, "interrupted", b.Reason)
	case room.ReplyLate:
		it.end(nil, isTrouble, b.Turn, b.Participant, "replied too late", fmt.Sprintf("%d bytes, forwarded to nobody", b.Bytes))
	case room.Violation:
		it.Kind, it.Who = isTrouble, b.Participant
		it.Note = join("broke its protocol", b.Code, b.Detail)
	case room.PolicyChanged:
		it.Note = "policy changed to " + b.Policy.Name
	case room.LimitsChanged:
		it.Note = "limits changed"
	case room.SummaryMade:
		it.Note, it.Text = "summary by "+b.By, b.Text
	case room.Redacted:
		it.Note = join(fmt.Sprintf("redacted event %d", b.Target), b.Reason)
	default:
		it.Note = phaseNote(body)
		if _, failed := body.(room.Errored); failed {
			it.Kind = isTrouble
		}
	}
	return it.Note != ""
}

// end tells how a turn ended without a message.
func (it *item) end(t *teller, kind string, turn int, who, what, why string) {
	it.Kind, it.Turn, it.Who, it.Note = kind, turn, who, join(what, why)
	if t != nil {
		it.Grant, t.grant = t.grant, nil
	}
}

func seatNote(body room.Body) string {
	switch b := body.(type) {
	case room.Joined:
		return b.Participant.Label() + " joined"
	case room.SeatChanged:
		return join(b.Participant+" is now "+string(b.Standing), b.Reason)
	case room.SeatTaken:
		return b.By + " took over " + b.Participant
	case room.SeatReleased:
		return b.Participant + " was released"
	case room.SeatForgot:
		return b.Participant + " was started anew and is handed everything again"
	}
	return ""
}

func phaseNote(body room.Body) string {
	switch b := body.(type) {
	case room.Paused:
		return join("paused", b.Reason)
	case room.Resumed:
		return "resumed"
	case room.Stopped:
		return join("stopped", b.Cause+" "+b.Name, b.Reason)
	case room.Completed:
		return join("completed", b.Cause, b.Reason)
	case room.Errored:
		return join("ended in an error", b.Code, b.Reason)
	}
	return ""
}

// draft tells what was proposed and what people did with it. An approval is
// told with the message that it led to.
func (it *item) draft(body room.Body, t *teller) bool {
	it.Kind = isDraft
	actor := it.Who
	it.Who = t.turn
	did := func(what string) {
		if t.grant != nil {
			t.grant.Approval = append(t.grant.Approval, what+" by "+actor)
		}
	}
	switch b := body.(type) {
	case room.TurnDrafted:
		it.Turn, it.Text, it.Note = b.Turn, b.Message.Text, join("draft waits for a review", b.Why)
		it.Level = b.Message.Visibility
	case room.TurnEdited:
		it.Turn, it.Text, it.Note = b.Turn, b.Text, "draft edited by "+actor
		did("edited")
	case room.TurnApproved:
		did("approved")
		return false
	case room.TurnRejected:
		it.Turn, it.Note = b.Turn, join("draft rejected by "+actor, b.Reason)
		t.grant = nil
	}
	return true
}

// join puts what happened and why on one line.
func join(what string, why ...string) string {
	for _, w := range why {
		if w = strings.TrimSpace(w); w != "" {
			what += ": " + w
		}
	}
	return what
}
