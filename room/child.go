package room

import (
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/kinds"
)

// A CallOf says of which call a room is the child room. Such a room has one agent, the
// called one, and no policy. It is completed when the agent has answered. The caller
// has a seat that speaks through the calling room only.
type CallOf struct {
	Room     string       `json:"room"` // of the caller
	Call     string       `json:"call_id"`
	Caller   string       `json:"caller"`
	Agent    string       `json:"agent_name"`
	Root     string       `json:"root"`  // the room that no call has made
	Chain    []calls.Link `json:"chain"` // who called whom, from the first caller to Caller
	Depth    int          `json:"depth"`
	MaxDepth int          `json:"max_depth"`
	Rights   []string     `json:"rights"`   // of the agent
	Delegate []string     `json:"delegate"` // what all callers together may delegate
	Nested   bool         `json:"nested,omitempty"`

	// Context is what the caller has given of its room.
	Context endpoint.CallContext `json:"context,omitzero"`
}

// A Return is what an agent has given back in its child room.
type Return struct {
	Seq    int64    `json:",omitempty"` // of its newest answer
	Passed string   `json:",omitempty"` // why it did not take the task
	Tools  []string `json:",omitempty"`
	Errors []string `json:",omitempty"`
	Cut    int64    `json:",omitempty"` // tokens of prompts whose turns were interrupted, estimated

	Asking string `json:",omitempty"` // its question to the caller, which has no answer yet
}

// Acts of the coordinator in a child room.
type (
	// GiveTask posts the task of the caller, once. Input is JSON.
	GiveTask struct {
		Text  string
		Input policy.JSON
	}
	// Serve gives the floor to the agent.
	Serve struct{ Grant Grant }
	// ReplyTo is the caller's answer to the question of the agent.
	ReplyTo struct{ Text string }
)

func (GiveTask) act() {}
func (Serve) act()    {}
func (ReplyTo) act()  {}

// asks reports whether a message of that kind is a question to the caller.
func asks(kind string) bool { return kind == kinds.ClarificationRequest || kind == kinds.Blocker }

// CauseReturned is the cause of the end of a child room whose agent has answered.
const CauseReturned = "returned"

// A ServeAgent gives the floor to the agent of a child room.
type ServeAgent struct {
	Turn int
	Seq  int64
}

// Key returns the stable id of the effect.
func (e ServeAgent) Key() string { return "serve " + itoa(e.Turn) + " " + itoa(e.Seq) }

// Limits of a child room that do not follow from its call.
const (
	childTurns    = 12 // the task, answers to questions, results of its own calls
	childFailures = 1
)

// Child describes the child room of an open call. Its secret is missing.
func (s *State) Child(call string) (spec Spec, participants []Participant, ok bool) {
	c := s.call(call)
	if c == nil || !c.State.Open() {
		return Spec{}, nil, false
	}
	x := s.seat(c.Caller)
	target, err := s.callable(x, c.Agent)
	if x == nil || err != nil {
		return Spec{}, nil, false
	}
	of := CallOf{
		Room: s.Spec.Room, Call: c.ID, Caller: c.Caller, Agent: c.Agent, Root: s.Spec.Room, Chain: c.Chain, Depth: c.Depth,
		MaxDepth: s.callDepth(x), Rights: c.Rights, Delegate: (s.delegable(x) & requested(c.Request)).Names(), Nested: c.Nested,
	}
	if s.Spec.Call != nil {
		of.Root = s.Spec.Call.Root
	}
	spec = Spec{
		Room: c.Room, Name: c.Agent + " for " + c.Caller,
		Limits: s.childLimits(c), Context: s.Spec.Context, Policy: PolicyRef{Use: "call", Name: "call"}, OnRestart: s.Spec.OnRestart, Dir: s.Spec.Dir, Call: &of,
	}
	if c.Nested {
		spec.Agents = s.callables(c)
	}
	return spec, []Participant{called(target, c), {ID: x.ID, Name: x.Name, Kind: policy.Local, Role: "manager", Caller: true}}, true
}

// called returns the participant in the child room: the agent with its endpoint, and
// the rights of the call.
func called(p Participant, c *Call) Participant {
	p.Kind, p.Cooldown, p.MaxTokens, p.Moderator, p.Session = policy.Local, 0, 0, false, false
	_, delegate := p.Rights()
	p.MayUse, p.MayDelegate = c.Rights, delegate.Names()
	p.Budget.Room = Amounts{} // that of the calling room; its hour and its day hold here too
	if p.Mode == "" {
		p.Mode = FullAuto
	}
	if p.Role == "" || p.Role == "manager" {
		p.Role = "worker"
	}
	if !c.Nested {
		p.Calls = ""
	}
	return p
}

// callables returns the agents that the agent of a call may call in turn: those of this
// room that are not on the path.
func (s *State) callables(c *Call) (all []Participant) {
	add := func(p Participant) {
		if p.ID != c.Agent && calls.Cycle(c.Chain, calls.Target{Agent: p.ID, Profile: p.Profile}) == "" {
			all = append(all, p)
		}
	}
	for _, y := range s.Seats {
		if p, err := s.callable(y, y.ID); err == nil {
			add(p)
		}
	}
	for _, p := range s.Spec.Agents {
		add(p)
	}
	return all
}

// childLimits returns the limits of the child room of c: its reserved budget and its
// time. The turns may take as long as the call.
func (s *State) childLimits(c *Call) Limits {
	l := s.Limits
	l.MaxTurns, l.MaxFailures = childTurns, childFailures
	l.MaxTokens, l.MaxCost, l.MaxCalls = c.Reserved.Tokens, c.Reserved.Cost, max(1, c.Reserved.Calls-1)
	l.MaxDuration, l.TurnTimeout, l.ToolTurnTimeout = c.Timeout, c.Timeout, c.Timeout
	l.StartTimeout = min(l.StartTimeout, c.Timeout)
	return l
}

// agentSeat returns the seat of the called agent of a child room.
func (s *State) agentSeat() *Seat { return s.seat(s.Spec.Call.Agent) }

// decideTask posts the task.
func (s *State) decideTask(do GiveTask, now Now) ([]Body, error) {
	of := s.Spec.Call
	if of == nil {
		return nil, invalidError("ROOM-COMMAND", "the room belongs to no call", "")
	}
	if s.Tally.Messages > 0 {
		return nil, nil
	}
	m := Message{From: of.Caller, To: of.Agent, Kind: kinds.Call, Visibility: Internal, Source: SourceAgent, Correlation: of.Call}
	m.ID, m.Text, m.Payload = of.Call+".task", validUTF8(do.Text), do.Input
	return []Body{MessagePosted{Message: s.completeMessage(m, 0, now), Auto: true}}, nil
}

// decideReplyTo posts the caller's answer to the question of its agent.
func (s *State) decideReplyTo(do ReplyTo, now Now) ([]Body, error) {
	of := s.Spec.Call
	switch {
	case of == nil || s.Return.Asking == "":
		return nil, invalidError("ROOM-CALL-ASKED", "the agent of the call has asked nothing", "get_call says what waits")
	case s.Phase != PhaseLive && s.Phase != PhasePaused:
		return nil, endedError(s)
	}
	text := validUTF8(do.Text)
	if err := checkLength(text); err != nil {
		return nil, err
	}
	m := s.completeMessage(Message{
		From: of.Caller, To: of.Agent, Kind: kinds.ClarificationReply, Text: text, Visibility: Internal, Source: SourceAgent, Correlation: of.Call,
	}, 0, now)
	return []Body{MessagePosted{Message: m, Auto: true}}, nil
}

// serves reports whether the agent of a child room is to get the floor: it has a task
// or a message, and no question of it waits.
func (s *State) serves() bool {
	x := s.agentSeat()
	return x != nil && s.Return.Asking == "" && len(x.Inbox) > 0 && s.Ineligible(x) == ""
}

// decideServe gives the floor to the agent of a child room.
func (s *State) decideServe(do Serve, now Now) ([]Body, error) {
	if s.Spec.Call == nil || s.Phase != PhaseLive || !s.serves() {
		return nil, ErrStale
	}
	x := s.agentSeat()
	if stop := s.limitStop(x, do.Grant, now); stop != nil {
		return []Body{*stop}, nil
	}
	return []Body{s.grantEvent(x, policy.Speak(x.ID, "it has a message of its caller"), nil, do.Grant)}, nil
}

// withReturn completes a child room whose agent has answered, and has nothing open: no
// question, no call, and no message that it has not been given.
func (s *State) withReturn(bodies []Body) []Body {
	if s.Spec.Call == nil || s.Phase != PhaseLive || s.Turn == nil || len(bodies) == 0 || s.Return.Asking != "" || s.CallsOpen() {
		return bodies
	}
	x, t := s.agentSeat(), s.Turn
	if slices.ContainsFunc(x.Inbox, func(m unread) bool { return m.Seq > t.Window.Through || slices.Contains(t.Window.Kept, m.Seq) }) {
		return bodies
	}
	reason := ""
	switch b := bodies[len(bodies)-1].(type) {
	case MessagePosted:
		if b.Turn != t.Number || b.Message.From != x.ID {
			return bodies
		}
		reason = x.ID + " has answered"
	case TurnPassed:
		reason = x.ID + " has passed"
	default:
		return bodies
	}
	return append(bodies, Completed{Cause: CauseReturned, Reason: reason})
}

// maxReturned bounds the lists of a Return.
const maxReturned = 64

// noteReturn keeps what the agent of a child room gives back.
func (s *State) noteReturn(e Event) {
	r := &s.Return
	switch b := e.Body.(type) {
	case MessagePosted:
		s.noteAnswer(e, b)
	case TurnPassed:
		r.Passed = "the agent passed"
		if b.Reason != "" {
			r.Passed += ": " + b.Reason
		}
	case TurnFailed:
		r.Errors = appended(r.Errors, b.Code+": "+b.Error)
	case SeatFailed:
		r.Errors = appended(r.Errors, b.Code+": "+b.Error)
	case TurnInterrupted:
		if s.inFlight() && s.Turn.Number == b.Turn {
			addTo(&r.Cut, max(0, s.Turn.Tokens))
		}
	}
}

func (s *State) noteAnswer(e Event, b MessagePosted) {
	r, m, of := &s.Return, b.Message, s.Spec.Call
	switch {
	case m.From == of.Agent && asks(m.Kind):
		r.Asking = FirstSentence(m.Text, 200)
		if r.Asking == "" {
			r.Asking = FirstSentence(m.Summary, 200)
		}
		if r.Asking == "" {
			r.Asking = "a question without text"
		}
	case m.From == of.Agent && b.Turn != 0:
		r.Seq, r.Passed = e.Seq, ""
		for _, c := range m.Tools {
			r.Tools = appended(r.Tools, c.Kind)
		}
	case m.From != of.Agent && m.Kind != kinds.CallResult:
		r.Asking = ""
	}
}

// appended adds a text to a list that holds each text once.
func appended(list []string, text string) []string {
	for _, old := range list {
		if old == text {
			return list
		}
	}
	if len(list) >= maxReturned {
		return list
	}
	return append(list[:len(list):len(list)], text)
}

// ChildStatus says how a child room stands, for its caller: the state of the call while
// it is open, who is asked, and what.
func (s *State) ChildStatus() (state calls.State, asked, text string) {
	switch {
	case s.Phase == PhaseUnopened || len(s.starts()) > 0 && s.Tally.Turns == 0:
		return calls.Submitted, "", ""
	case s.Turn != nil && len(s.Turn.Requests) > 0:
		p := s.Turn.Requests[0].Permission
		if p.Kind == ActionSignIn {
			return calls.AuthRequired, calls.Owner, p.Title
		}
		return calls.InputRequired, calls.Owner, p.Title
	case s.Turn != nil && s.Turn.Draft != nil:
		return calls.InputRequired, calls.Owner, "a person reviews its answer"
	case s.Return.Asking != "" && s.Turn == nil:
		return calls.InputRequired, s.Spec.Call.Caller, s.Return.Asking
	}
	for _, c := range s.openCalls() {
		if c.Asked == calls.Owner {
			return c.State, c.Asked, c.Text
		}
	}
	return calls.Working, "", ""
}

// ChildResult returns the result of a child room that has ended, without its output,
// which is in the message with seq Return.Seq. ended is false before that.
func (s *State) ChildResult() (state calls.State, r calls.Result, ended bool) {
	if s.Phase == PhaseLive || s.Phase == PhasePaused || s.Phase == PhaseUnopened || s.CallsOpen() {
		return "", calls.Result{}, false
	}
	t := s.Tally
	r = calls.Result{
		Agent: s.Spec.Call.Agent, Tools: s.Return.Tools, Errors: s.Return.Errors, Tokens: t.Tokens, Cost: t.Cost, Estimated: t.Estimated,
		CostEstimated: t.CostEstimated, Calls: s.Called, Duration: s.Clock.Round(time.Millisecond).Seconds(), Seq: s.Seq,
	}
	if s.Return.Cut > 0 {
		addTo(&r.Tokens, s.Return.Cut)
		r.Estimated = true
	}
	return s.outcome(), s.withWhy(r), true
}

// outcome returns the state of the call of a child room that has ended.
func (s *State) outcome() calls.State {
	switch {
	case s.Phase == PhaseCompleted && s.Return.Passed != "":
		return calls.Rejected
	case s.Phase == PhaseCompleted && s.Return.Seq > 0:
		return calls.Completed
	case s.Phase == PhaseStopped && s.Ending.Cause == CausePerson:
		return calls.Canceled
	}
	return calls.Failed
}

// withWhy adds to the errors why there is no answer.
func (s *State) withWhy(r calls.Result) calls.Result {
	why := s.Ending.Reason
	switch s.outcome() {
	case calls.Completed:
		r.Errors = nil
		return r
	case calls.Rejected:
		why = s.Return.Passed
	}
	r.Errors = append(r.Errors[:len(r.Errors):len(r.Errors)], why)
	return r
}
