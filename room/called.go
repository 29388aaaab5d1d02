package room

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/room/kinds"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/secrets"
)

// timedOut is why the room cancels a call whose time is over.
const timedOut = "no result within "

// decideProgressed records that the child room of a call stands otherwise.
func (s *State) decideProgressed(do CallProgressed) ([]Body, error) {
	c := s.call(do.Call)
	if c == nil || !c.State.Open() {
		return nil, ErrLate
	}
	b := changedOf(c)
	b.State, b.Asked, b.Text = do.State, cut(validUTF8(do.Asked), maxID), secrets.Preview(validUTF8(do.Text))
	if !do.State.Open() || b == changedOf(c) {
		return nil, nil
	}
	if b.Asked == c.Caller {
		return s.endWaits(b), nil
	}
	return []Body{b}, nil
}

// endWaits returns the change of a call whose agent asks its caller. The caller does not
// wait any more: it would wait for an answer of its own. So it is with all calls for
// which it waits in that turn, because it may wait for them together.
func (s *State) endWaits(asked CallChanged) []Body {
	c := s.call(asked.Call)
	asked.WaitUntil = 0
	bodies := []Body{asked}
	for i := range s.Calls {
		if o := &s.Calls[i]; o.ID != c.ID && o.State.Open() && o.Caller == c.Caller && o.Turn == c.Turn && o.WaitUntil > 0 {
			b := changedOf(o)
			b.WaitUntil = 0
			bodies = append(bodies, b)
		}
	}
	return bodies
}

// decideReturned ends a call. A caller that does not wait gets the result as a message.
func (s *State) decideReturned(do CallReturned, now Now) ([]Body, error) {
	c := s.call(do.Call)
	if c == nil || !c.State.Open() {
		return nil, ErrLate
	}
	ended := CallEnded{Call: c.ID, State: do.State, Result: do.Result.Bounded(s.Limits.MaxOutput)}
	switch {
	case ended.State.Open():
		ended.State = calls.Failed
	case c.Canceling == "" || ended.State == calls.Completed: // it was faster
	case strings.HasPrefix(c.Canceling, timedOut):
		ended.State = calls.Failed
	default:
		ended.State = calls.Canceled
	}
	r := &ended.Result
	r.Agent, r.Success = c.Agent, ended.State == calls.Completed
	if !r.Success && c.Canceling != "" && !slices.Contains(r.Errors, c.Canceling) {
		r.Errors = append([]string{c.Canceling}, r.Errors...)
	}
	ended.Posted = c.WaitUntil == 0 && (s.Phase == PhaseLive || s.Phase == PhasePaused)
	bodies := []Body{ended}
	if ended.Posted {
		done := *c
		done.State, done.Asked, done.Text = ended.State, "", "" // nothing waits for an answer
		bodies = append(bodies, s.resultMessage(done, *r, now))
	}
	return bodies, nil
}

// resultMessage returns the message with the result of a call to its caller.
func (s *State) resultMessage(c Call, r calls.Result, now Now) MessagePosted {
	text := r.Output
	if text == "" {
		text = "the call " + c.ID + " of " + c.Agent + " has " + string(c.State)
		for _, e := range r.Errors {
			text += "\n" + e
		}
	}
	about := calls.AnswerOf(c)
	about.Result = r
	about.Output = "" // Text has it
	m := s.completeMessage(Message{
		From: c.Agent, To: c.Caller, Kind: kinds.CallResult, Text: text, Visibility: Internal, Source: SourceAgent, Correlation: c.ID,
	}, 0, now)
	if payload, err := json.Marshal(about); err == nil { // no field can fail
		m.Payload = payload
	}
	m.Mentions, m.Addressed = nil, nil // it is data
	return MessagePosted{Message: m, Auto: true}
}

// untold returns as messages the results of calls for which the agent waited in a turn
// that has ended with its host: it may not have got them, or has lost them since.
func (s *State) untold(turn int, now Now) (bodies []Body) {
	for _, c := range s.Calls {
		if c.Turn == turn && !c.State.Open() && !c.Posted {
			b := s.resultMessage(c, *c.Result, now)
			b.Message.ID = s.Spec.Room + "." + c.ID
			bodies = append(bodies, b)
		}
	}
	return bodies
}

// noteTold notes that a message has the result of a call.
func (s *State) noteTold(m Message) {
	if c := s.call(m.Correlation); c != nil && !c.State.Open() && !c.Posted && c.Caller == m.To {
		told := *c
		told.Posted = true
		s.setCall(told)
	}
}

// withCalls adds to bodies the calls that they cancel. The end of the room cancels all
// of them. The end of the caller's turn by a failure or a person cancels those that it
// waited for, because no other has use for the result. A pause and a restart do not: the
// result is a message then. A caller that may not speak any more loses its calls too.
func (s *State) withCalls(bodies []Body) []Body {
	open := s.openAfter(bodies)
	if len(open) == 0 {
		return bodies
	}
	out, goesOn := bodies[:len(bodies):len(bodies)], false
	cancel := func(why string, which func(Call) bool) {
		for i, c := range open {
			if c.Canceling == "" && which(c) {
				open[i].Canceling = why
				b := canceling(&c, why)
				b.WaitUntil = 0
				out = append(out, b)
			}
		}
	}
	for _, b := range bodies {
		switch b.(type) {
		case Stopped, Completed, Errored:
			cancel("the room of its caller has ended", func(Call) bool { return true })
			return out
		case Paused, Claimed:
			goesOn = true
		}
	}
	waited := func(turn int) func(Call) bool {
		return func(c Call) bool { return c.WaitUntil > 0 && c.Turn == turn }
	}
	for _, b := range bodies {
		switch b := b.(type) {
		case TurnInterrupted:
			if !goesOn {
				cancel("the turn of its caller was interrupted: "+b.Reason, waited(b.Turn))
			}
		case TurnFailed:
			cancel("the turn of its caller has failed: "+b.Code, waited(b.Turn))
		case SeatChanged: // it comes after the end of the turn
			if b.Standing != Active {
				cancel("its caller is "+string(b.Standing), func(c Call) bool { return c.Caller == b.Participant })
			}
		}
	}
	return out
}

// openAfter returns the calls that are open after bodies.
func (s *State) openAfter(bodies []Body) []Call {
	open := s.openCalls()
	for _, b := range bodies {
		switch b := b.(type) {
		case CallStarted:
			open = append(open, b.Call)
		case CallEnded:
			open = slices.DeleteFunc(open, func(c Call) bool { return c.ID == b.Call })
		}
	}
	return open
}

// callsDue ends the waits and the calls whose time is over.
func (s *State) callsDue(now time.Duration) (bodies []Body) {
	for i := range s.Calls {
		c := &s.Calls[i]
		if !c.State.Open() {
			continue
		}
		b := changedOf(c)
		if c.WaitUntil > 0 && now >= c.WaitUntil && c.WaitUntil < c.Deadline() {
			b.WaitUntil = 0
		}
		if c.Canceling == "" && now >= c.Deadline()+grace {
			b.Canceling = timedOut + human.Duration(c.Timeout)
		}
		if b != changedOf(c) {
			bodies = append(bodies, b)
		}
	}
	return bodies
}

// callDeadline returns the clock at which callsDue has something to do.
func (s *State) callDeadline() time.Duration {
	at := time.Duration(math.MaxInt64)
	for i := range s.Calls {
		c := &s.Calls[i]
		if !c.State.Open() {
			continue
		}
		if c.WaitUntil > 0 && c.WaitUntil < c.Deadline() {
			at = min(at, c.WaitUntil)
		}
		if c.Canceling == "" {
			at = min(at, c.Deadline()+grace)
		}
	}
	return at
}

func (s *State) applyCallStarted(e Event, b CallStarted) {
	c := b.Call
	s.Calls = append(s.keepCalls(), c)
	s.noteCallMade(c)
	s.holdForCalls(e)
}

// keepCalls returns the open calls and the newest ended ones, with room for one more.
func (s *State) keepCalls() []Call {
	drop := -keptCalls
	for i := range s.Calls {
		if !s.Calls[i].State.Open() {
			drop++
		}
	}
	kept := make([]Call, 0, len(s.Calls)+1)
	for _, c := range s.Calls {
		if drop >= 0 && !c.State.Open() {
			drop--
			continue
		}
		kept = append(kept, c)
	}
	return kept
}

// setCall replaces a call. Copies of s keep theirs.
func (s *State) setCall(c Call) {
	s.Calls = slices.Clone(s.Calls)
	*s.call(c.ID) = c
}

func (s *State) applyCallChanged(e Event, b CallChanged) {
	old := s.call(b.Call)
	if old == nil || !old.State.Open() {
		return
	}
	c := *old
	c.State, c.Asked, c.Text, c.Canceling, c.WaitUntil = b.State, b.Asked, b.Text, b.Canceling, b.WaitUntil
	s.setCall(c)
	s.holdForCalls(e)
}

func (s *State) applyCallEnded(e Event, b CallEnded) {
	old := s.call(b.Call)
	if old == nil || !old.State.Open() {
		return
	}
	c, r := *old, b.Result
	c.State, c.Asked, c.Text, c.WaitUntil, c.Request = b.State, "", "", 0, nil
	c.Result, c.Ended = &r, e.Seq
	s.setCall(c)
	s.Called += 1 + r.Calls
	paid := charge{tokens: r.Tokens, cost: r.Cost, estimated: r.Estimated, costEstimated: r.CostEstimated}
	s.Tally.add(paid)
	if x := s.seat(c.Caller); x != nil {
		x.add(paid)
	}
	s.noteCallPaid(c)
	s.holdForCalls(e)
	s.addNews(e, "the call "+c.ID+" of "+c.Agent+" by "+c.Caller+" has "+string(c.State))
}

// holdForCalls stops the clock of the open turn while its agent waits for a call.
func (s *State) holdForCalls(e Event) {
	t := s.Turn
	if t == nil {
		return
	}
	n := 0
	for i := range s.Calls {
		if c := &s.Calls[i]; c.State.Open() && c.WaitUntil > 0 && c.Turn == t.Number {
			n++
		}
	}
	was := t.holds()
	held := t.held(e.Clock)
	t.Calling = n
	switch is := t.holds(); {
	case is && !was:
		t.HeldAt = e.Clock
	case was && !is:
		t.Held, t.HeldAt = held, 0
	}
}

// unwait ends the waits of the turn that has ended.
func (s *State) unwait(turn int) {
	for _, c := range s.openCalls() {
		if c.Turn == turn && c.WaitUntil > 0 {
			c.WaitUntil = 0
			s.setCall(c)
		}
	}
}

// callFollows checks an event about a call.
func (s *State) callFollows(b Body) string {
	id := ""
	switch b := b.(type) {
	case CallStarted:
		if s.call(b.ID) != nil {
			return "it starts the call " + b.ID + " twice"
		}
		return ""
	case CallChanged:
		id = b.Call
	case CallEnded:
		id = b.Call
	}
	if c := s.call(id); c == nil || !c.State.Open() {
		return "it is about the call " + id + ", which is not open"
	}
	return ""
}

func unknownCall(id string) error {
	return invalidError("ROOM-CALL-UNKNOWN", "no call "+quote(cut(validUTF8(id), maxID))+" of yours", "the answer of call_agent has the id")
}

// CallsAt returns the calls, oldest first, without their requests.
func (s *State) CallsAt(level Visibility) []Call {
	if level != Internal {
		return nil
	}
	out := make([]Call, len(s.Calls))
	for i, c := range s.Calls {
		out[i] = c.Public()
	}
	return out
}

// permitCalls starts the calls that a person has allowed. If they cannot be made any
// more, the permission is refused.
func (s *State) permitCalls(r PermissionRequest, a PermissionAnswered, now Now) []Body {
	x := s.seat(a.Participant)
	err := s.mayCall(x, x.ID)
	if err == nil {
		var started []Body
		if started, err = s.startCalls(x, r.Calls, r.ID, now); err == nil {
			return append([]Body{a}, started...)
		}
	}
	a.Allowed, a.By, a.Reason = false, endpoint.Unasked, cleanReason(err.Error())
	return []Body{a}
}
