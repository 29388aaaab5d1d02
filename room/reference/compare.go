package reference

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/kinds"
)

// Compare gives a command to the model, and compares its events and its answer with those
// of the room. It returns what differs, or "".
func (m *Model) Compare(c room.Command, clock time.Duration, events []room.Event, err error) string {
	want, allowed := m.do(c, clock)
	if second := errors.Is(err, room.ErrAnswered); second != m.second {
		return fmt.Sprintf("a second answer is %t in the model, the room says %v", m.second, err)
	}
	if allowed != (err == nil) {
		return fmt.Sprintf("allowed is %t in the model, the room says %v and %+v\n%s", allowed, err, events, m.line())
	}
	var got []room.Body
	for _, e := range events {
		got = append(got, stated(e.Body))
	}
	for i := range want {
		want[i] = stated(want[i])
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Sprintf("\nroom  %+v\nmodel %+v", got, want)
	}
	return ""
}

// CompareState compares the state of the room after the events with that of the model. It
// returns what differs, or "".
func (m *Model) CompareState(s *room.State) string {
	if got, want := stateLine(s), m.line(); got != want {
		return fmt.Sprintf("\nroom  %s\nmodel %s", got, want)
	}
	return ""
}

// stated returns an event with the fields that the model states.
func stated(b room.Body) room.Body {
	message := func(m room.Message) room.Message {
		return room.Message{From: m.From, By: m.By, Text: m.Text, Source: m.Source, Confidence: m.Confidence}
	}
	switch b := b.(type) {
	case room.Claimed:
		return room.Claimed{Restart: b.Restart}
	case room.SeatChanged:
		b.Reason = ""
		return b
	case room.RoundDeclined:
		return room.RoundDeclined{Retry: b.Retry}
	case room.TurnGranted:
		return room.TurnGranted{Turn: b.Turn, Participant: b.Participant, Request: b.Request, Tokens: b.Tokens, Timeout: b.Timeout, Exploration: rounded(b.Exploration)}
	case room.PermissionAsked:
		if b.Permission.Kind == room.ActionCall {
			b.Permission = room.Permission{Kind: room.ActionCall}
		}
		return b
	case room.BudgetChanged:
		return room.BudgetChanged{Participant: b.Participant, BudgetMark: room.BudgetMark{Level: b.Level, Next: b.Next}}
	case room.CallStarted, room.CallChanged, room.CallEnded:
		return statedCall(b)
	case room.TurnDrafted:
		b.Message = message(b.Message)
		b.Why, _, _ = strings.Cut(b.Why, " ")
		return b
	case room.TurnRejected: // how long a person had follows
		b.Reason, _, _ = strings.Cut(b.Reason, " within ")
		return b
	case room.BidPosted:
		if b.Failed != "" {
			return room.BidPosted{Decision: b.Decision, Participant: b.Participant, Failed: "yes"}
		}
		return b
	case room.TurnPassed:
		b.Reason = ""
		return b
	case room.TurnFailed:
		b.Error = ""
		return b
	case room.SeatFailed:
		b.Error = ""
		return b
	case room.TurnInterrupted:
		return room.TurnInterrupted{Turn: b.Turn}
	case room.PermissionAnswered:
		b.Reason = ""
		return b
	case room.ReplyLate:
		b.Digest = ""
		return b
	case room.MessagePosted:
		if b.Message.Kind == kinds.CallResult { // why it has failed follows
			b.Message.Text, _, _ = strings.Cut(b.Message.Text, "\n")
		}
		b.Message = message(b.Message)
		return b
	case room.MessageDead:
		return room.MessageDead{Code: b.Code}
	case room.Paused:
		return room.Paused{Cause: b.Cause, Code: b.Code}
	case room.Stopped:
		b.Reason = ""
		return b
	case room.Completed:
		return room.Completed{Cause: b.Cause, Degraded: b.Degraded}
	case room.Errored:
		return room.Errored{Code: b.Code}
	}
	return b
}

// stateLine returns what the model knows of a state, as text.
func stateLine(s *room.State) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s decision %d, %d turns %d failures %d declines %d tokens %d cost %d cached %t %t", s.Phase, s.Ending.Cause, s.Policy.Decision,
		s.Tally.Turns, s.Tally.Failures, s.Tally.Declines, s.Tally.Tokens, s.Tally.Cost, s.Tally.CachedInput, s.Tally.Estimated, s.Tally.CostEstimated)
	for _, x := range s.Seats {
		fmt.Fprintf(&out, ", %s %s %q %q %d tokens %d failures", x.ID, x.Standing, x.TakenBy, s.Ineligible(x), x.Spent, x.Failures)
	}
	for _, r := range s.View(room.Internal).Requests {
		out.WriteString(", asks " + r.ID)
	}
	fmt.Fprintf(&out, ", follows %+v, request %t, replaced %q, %d calls", s.Handoff, s.Request, s.Policy.Replaced, s.Called)
	for _, e := range s.Effects() {
		switch e := e.(type) {
		case room.Ask:
			fmt.Fprintf(&out, ", ask %v", e.NotBefore)
		default:
			out.WriteString(", " + e.Key())
		}
	}
	if at, ok := s.Deadline(); ok {
		fmt.Fprintf(&out, ", until %v", at)
	}
	return out.String()
}

// line returns the text that stateLine has to return.
func (m *Model) line() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s decision %d, %d turns %d failures %d declines %d tokens %d cost %d cached %t %t", m.Phase, m.cause, m.Decision,
		m.Tally.Turns, m.Tally.Failures, m.Tally.Declines, m.Tally.Tokens, m.Tally.Cost, m.Tally.CachedInput, m.Tally.Estimated, m.Tally.CostEstimated)
	for _, x := range m.Seats {
		fmt.Fprintf(&out, ", %s %s %q %q %d tokens %d failures", x.ID, x.standing, x.takenBy, m.ineligible(x), x.spent, x.failed)
	}
	if m.Turn != nil {
		for _, e := range m.Turn.Requests {
			out.WriteString(", asks " + e.ID)
		}
	}
	fmt.Fprintf(&out, ", follows %+v, request %t, replaced %q, %d calls%s", m.follow, m.addressed, m.replaced, m.called, m.callEffects())
	if m.Phase != room.PhaseLive {
		return out.String()
	}
	until, ask, waits, eligible, away, bids := m.callsUntil(m.Limits.MaxDuration), m.retryAt, false, false, false, ""
	if m.Tally.Declines == 0 || m.news > m.declinedAt {
		ask = 0
	}
	for _, x := range m.Seats {
		if m.starts(x) {
			fmt.Fprintf(&out, ", start %s %d", x.ID, x.Attempt)
			until, ask, waits = min(until, x.startedAt+x.StartTimeout+time.Second), max(ask, x.startedAt+10*time.Second), true
		}
		eligible, away = eligible || m.ineligible(x) == "", away || m.ineligible(x) == "away"
		if m.Policy.Needs.Bids && !x.NoBids && m.ineligible(x) == "" && x.takenBy == "" && !slices.Contains(m.bids, x.ID) {
			bids += fmt.Sprintf(", bid %d %s", m.Decision+1, x.ID)
		}
	}
	if t := m.Turn; t == nil {
		last := m.Tally.Declines+1 >= m.Limits.MaxDeclines
		calling := len(m.OpenCalls()) > 0
		if !(waits && (last || !eligible)) && !(away && !eligible) && !(calling && m.callsHold()) && !((away || calling) && last && m.news <= m.declinedAt) {
			out.WriteString(cmp.Or(bids, fmt.Sprintf(", ask %v", ask)))
		}
	} else if t.Draft == nil && t.Seat.takenBy == "" {
		fmt.Fprintf(&out, ", speak %d %s", t.Turn, t.Request)
		until = min(until, m.until(t))
	} else if t.Draft != nil && m.Limits.DraftTimeout > 0 {
		until = min(until, t.drafted+m.Limits.DraftTimeout)
	}
	fmt.Fprintf(&out, ", until %v", until)
	return out.String()
}
