package room

import (
	"cmp"
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/rights"
	"github.com/folkmoot/moot/room/secrets"
)

// A Call is a call of one agent by another; see package calls.
type Call = calls.Call

// Values of Participant.Calls. "" is CallsDeny.
const (
	CallsAllow = "allow" // it may call agents
	CallsAsk   = "ask"   // it may when a person allows it
	CallsDeny  = "deny"
)

// Acts about calls, of the seat that calls. The caller of Decide has authenticated it.
type (
	// CallAgents starts one call or several. Absent says that no person is there to
	// allow them.
	CallAgents struct {
		Calls  []calls.Args
		Absent bool
	}
	// AwaitCall says that the caller waits for the result of a call for that time from
	// now, or no longer. With Lost a result that it did not get is posted as a message.
	AwaitCall struct {
		Call string
		Wait time.Duration
		Lost bool
	}
	// CancelCall ends a call and all below it. A person with control may do so too.
	CancelCall struct{ Call, Reason string }
)

// Acts of the coordinator about calls.
type (
	// CallProgressed says how the child room of a call stands.
	CallProgressed struct {
		Call        string
		State       calls.State
		Asked, Text string
	}
	// CallReturned ends a call.
	CallReturned struct {
		Call   string
		State  calls.State
		Result calls.Result
	}
)

// Bodies of events about calls. Only readers with control see them.
type (
	// CallStarted records a call and reserves its budget. Its child room is opened
	// after that.
	CallStarted struct{ calls.Call }
	// CallChanged replaces what changes of an open call.
	CallChanged struct {
		Call      string        `json:"call_id"`
		State     calls.State   `json:"state"`
		Asked     string        `json:"asked,omitempty"`
		Text      string        `json:"text,omitempty"`
		Canceling string        `json:"canceling,omitempty"`
		WaitUntil time.Duration `json:"wait_until_ns,omitempty"`
	}
	// CallEnded releases the budget of a call and charges what it used. Posted says
	// that a message has the result.
	CallEnded struct {
		Call   string       `json:"call_id"`
		State  calls.State  `json:"state"`
		Posted bool         `json:"posted,omitempty"`
		Result calls.Result `json:"result"`
	}
)

// Type returns the stable name of the body.
func (CallStarted) Type() string { return "call.started" }

// Type returns the stable name of the body.
func (CallChanged) Type() string { return "call.changed" }

// Type returns the stable name of the body.
func (CallEnded) Type() string { return "call.ended" }

func (CallAgents) act()     {}
func (AwaitCall) act()      {}
func (CancelCall) act()     {}
func (CallProgressed) act() {}
func (CallReturned) act()   {}

// RunCall runs the child room of a call until it has ended. Cancel says why it is ended
// now, "" for not.
type RunCall struct{ Call, Cancel string }

// Key returns the stable id of the effect.
func (e RunCall) Key() string {
	if e.Cancel != "" {
		return "cancel " + e.Call
	}
	return "call " + e.Call
}

// keptCalls is the number of ended calls that a state lists.
const keptCalls = 32

// callEffects returns the calls in progress. A call that is cancelled is ended in every
// phase of the room, and others go on while it is live.
func (s *State) callEffects() (out []Effect) {
	for i := range s.Calls {
		if c := &s.Calls[i]; c.State.Open() && (c.Canceling != "" || s.Phase == PhaseLive) {
			out = append(out, RunCall{c.ID, c.Canceling})
		}
	}
	return out
}

// call returns the call with id, or nil.
func (s *State) call(id string) *Call {
	i := slices.IndexFunc(s.Calls, func(c Call) bool { return c.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Calls[i]
}

// CallsOpen reports whether a call has no result yet.
func (s *State) CallsOpen() bool {
	return slices.ContainsFunc(s.Calls, func(c Call) bool { return c.State.Open() })
}

// Reserved returns the budgets of the open calls.
func (s *State) Reserved() (sum calls.Budget) {
	for i := range s.Calls {
		if s.Calls[i].State.Open() {
			sum = sum.Plus(s.Calls[i].Reserved)
		}
	}
	return sum
}

// decideCalls starts calls, or asks a person whether they may be started.
func (s *State) decideCalls(actor string, do CallAgents, now Now) ([]Body, error) {
	x := s.seat(actor)
	if err := s.mayCall(x, actor); err != nil {
		return nil, err
	}
	started, err := s.startCalls(x, do.Calls, "", now)
	if err != nil || x.Calls == CallsAllow {
		return started, err
	}
	return s.askForCalls(x, do, started)
}

// mayCall refuses an actor that may not call agents now.
func (s *State) mayCall(x *Seat, actor string) error {
	if x == nil || x.Standing != Active {
		return deniedError(actor, "call agents")
	}
	if err := s.mayEverCall(x); err != nil {
		return err
	}
	switch {
	case s.Phase != PhaseLive:
		return deniedError(actor, "call agents while the room is "+string(s.Phase))
	case x.TakenBy != "":
		return deniedError(actor, "call agents while "+x.TakenBy+" has its seat")
	case !x.Session && (!s.inFlight() || s.Turn.Participant != x.ID):
		return invalidError("ROOM-CALL-DENIED", x.ID+" has called an agent outside its turn", "call agents in a turn")
	}
	return nil
}

// mayEverCall refuses a seat whose agent may never call others in this room.
func (s *State) mayEverCall(x *Seat) error {
	switch {
	case !x.Driven() || x.foreign():
		return deniedError(x.ID, "call agents")
	case s.Spec.Call != nil && !s.Spec.Call.Nested:
		return nestedOff(x)
	case x.Participant.Calls != CallsAllow && x.Participant.Calls != CallsAsk:
		return invalidError("ROOM-CALL-DENIED", x.ID+" may not call other agents", "set calls: allow or calls: ask for it in room.yaml")
	}
	return nil
}

// startCalls returns the events that start the calls, all or none.
func (s *State) startCalls(x *Seat, list []calls.Args, permit string, now Now) ([]Body, error) {
	if len(list) == 0 {
		return nil, invalidError("ROOM-CALL-ARGS", "no call is named", "")
	}
	rest := s.callRest(x)
	bodies := make([]Body, 0, len(list))
	for i, a := range list {
		c, err := s.startCall(x, a, s.Called+len(s.openCalls())+i+1, rest, now)
		if err != nil {
			return nil, err
		}
		rest = rest.Less(c.Reserved)
		c.Permit = permit
		bodies = append(bodies, CallStarted{c})
	}
	return bodies, nil
}

// startCall describes the n-th call of the room.
func (s *State) startCall(x *Seat, a calls.Args, n int, rest calls.Rest, now Now) (Call, error) {
	_, err := endpoint.ParseContextFilter(a.Context)
	if err = cmp.Or(a.Check(), err); err != nil {
		return Call{}, invalidError("ROOM-CALL-ARGS", "the call cannot be made: "+err.Error(), "")
	}
	target, err := s.callable(x, a.Agent)
	if err != nil {
		return Call{}, err
	}
	chain := append(s.callers(), calls.Link{Agent: x.ID, Profile: x.Profile, Room: s.Spec.Room})
	if why := calls.Check(chain, calls.Target{Agent: target.ID, Profile: target.Profile}, s.callDepth(x)); why != "" {
		return Call{}, invalidError("ROOM-CALL-PATH", why, "call another agent, or do the task yourself")
	}
	reserved, limit := rest.Reserve(a.MaxTokens, a.AllowNested)
	if limit != "" {
		return Call{}, invalidError("ROOM-CALL-BUDGET", "limit "+limit+": too little is left for this call of "+target.ID, "name a smaller max_tokens, or wait until other calls have ended")
	}
	timeout := min(a.Timeout(), s.Limits.MaxDuration-now.Clock)
	if timeout < time.Second {
		return Call{}, invalidError("ROOM-CALL-BUDGET", "limit maxDuration: no time is left for a call", "")
	}
	id := "c" + itoa(n)
	c := Call{
		ID: id, Caller: x.ID, Agent: target.ID, Chain: chain, Depth: len(chain), Task: secrets.Preview(validUTF8(a.Task)),
		Room:     calls.RoomID(s.Spec.Room, s.Spec.Secret, id, now.Wall),
		Nested:   a.AllowNested && reserved.Calls > 1 && (target.Calls == CallsAllow || target.Calls == CallsAsk),
		Reserved: reserved, State: calls.Submitted, At: now.Wall.UTC(), Started: now.Clock, Timeout: timeout, Request: &a,
		Rights: s.callRights(x, target, a).Names(),
	}
	if s.inFlight() && s.Turn.Participant == x.ID {
		c.Turn = s.Turn.Number
	}
	if wait := a.Wait(timeout); wait > 0 {
		c.WaitUntil = now.Clock + wait
	}
	return c, nil
}

// callable returns the agent with that id that x could call.
func (s *State) callable(x *Seat, id string) (Participant, error) {
	if y := s.seat(id); y != nil {
		switch {
		case !y.Driven() || y.foreign() || y.Session:
			return Participant{}, invalidError("ROOM-CALL-AGENT", id+" is no agent that this host starts", "call an agent of this device")
		case y.Standing != Active || y.TakenBy != "":
			return Participant{}, invalidError("ROOM-CALL-AGENT", id+" takes no calls now", "call another agent")
		case y.overBudget() != nil:
			return Participant{}, invalidError("ROOM-CALL-AGENT", id+" takes no calls now: it has used "+y.overBudget().Text(), "call another agent")
		}
		return y.Participant, nil
	}
	for _, p := range s.Spec.Agents {
		if p.ID == id {
			return p, nil
		}
	}
	return Participant{}, invalidError("ROOM-CALL-AGENT", "no agent "+quote(cut(validUTF8(id), maxID))+" can be called", "name an agent of participants: or agents: in room.yaml")
}

// callers returns the call path that leads to this room.
func (s *State) callers() []calls.Link {
	if s.Spec.Call == nil {
		return nil
	}
	return slices.Clone(s.Spec.Call.Chain)
}

// callDepth returns the largest depth of a call of x.
func (s *State) callDepth(x *Seat) int {
	depth := calls.MaxDepth
	own := 0
	if of := s.Spec.Call; of != nil {
		depth, own = min(depth, of.MaxDepth), of.Depth
	}
	if x.MaxSubAgentDepth > 0 {
		depth = min(depth, own+x.MaxSubAgentDepth)
	}
	return depth
}

// callRest returns what is left for calls of x: of the limits of the room without what
// is spent and reserved, and without the prompt of the open turn, which is charged later.
func (s *State) callRest(x *Seat) calls.Rest {
	l, reserved := s.Limits, s.Reserved()
	r := calls.Rest{Tokens: calls.NoLimit, Cost: calls.NoLimit, Calls: l.MaxCalls - s.Called - reserved.Calls}
	turn, cost := int64(0), int64(0)
	if s.inFlight() {
		turn = s.Turn.Tokens
		if y := s.seat(s.Turn.Participant); y != nil {
			cost = y.Price.of(Usage{Input: turn})
		}
	}
	if l.MaxTokens > 0 {
		r.Tokens = max(0, l.MaxTokens-s.Tally.Tokens-reserved.Tokens-turn)
	}
	if l.MaxCost > 0 {
		r.Cost = max(0, l.MaxCost-s.Tally.Cost-reserved.Cost-cost)
	}
	if x.MaxTokens > 0 {
		left := max(0, x.MaxTokens-x.Spent-turn)
		for _, c := range s.openCalls() {
			if c.Caller == x.ID {
				left = max(0, left-c.Reserved.Tokens)
			}
		}
		if r.Tokens < 0 || left < r.Tokens {
			r.Tokens = left
		}
	}
	s.boundByBudget(x, &r)
	return r
}

// openCalls returns the calls without a result.
func (s *State) openCalls() (open []Call) {
	for _, c := range s.Calls {
		if c.State.Open() {
			open = append(open, c)
		}
	}
	return open
}

// askForCalls asks a person once for all calls of a request.
func (s *State) askForCalls(x *Seat, do CallAgents, started []Body) ([]Body, error) {
	t := s.Turn
	switch {
	case !s.hasTurn(x): // a running session calls between its turns, and while its draft waits
		return nil, invalidError("ROOM-CALL-DENIED", x.ID+" needs a permission to call agents, and has no turn", "call agents in a turn")
	case len(t.Requests) >= maxOpenRequests || t.Asked >= maxRequests:
		return nil, permissionError(x.ID+" asks for too many permissions", "wait for the answers")
	}
	asked := PermissionAsked{
		Turn: t.Number, Participant: x.ID, ID: itoa(t.Number) + "." + itoa(t.Asked+1), Permission: permissionOf(started),
		Timeout: s.Limits.PermissionTimeout, Calls: do.Calls,
	}
	if !do.Absent {
		return []Body{asked}, nil
	}
	return []Body{asked, PermissionAnswered{Turn: t.Number, Participant: x.ID, ID: asked.ID, By: "room", Reason: "no person is there to allow calls; set calls: allow in room.yaml"}}, nil
}

// ActionCall is the kind of a permission request for calls.
const ActionCall = "call"

// permissionOf says what a person allows: how many children, which agents, and the
// reserved budget.
func permissionOf(started []Body) Permission {
	var names []string
	var sum calls.Budget
	detail := ""
	for _, b := range started {
		c := b.(CallStarted).Call
		names, sum = append(names, c.Agent), sum.Plus(c.Reserved)
		detail += "\n" + c.Agent + ", " + count(int(c.Reserved.Tokens), "token") + ", at most " + human.Duration(c.Timeout) + ": " + c.Task
	}
	title := "start " + count(len(names), "child") + ": " + list(names)
	if len(names) > 1 {
		title = "start " + itoa(len(names)) + " children: " + list(names)
	}
	budget := count(int(sum.Tokens), "token")
	if sum.Cost > 0 {
		budget += ", a cost of " + human.Money(sum.Cost)
	}
	p, _ := Permission{ID: "calls", Title: title, Detail: title + ", reserved " + budget + detail}.Bounded()
	p.Kind = ActionCall
	return p
}

// list joins names.
func list(names []string) (text string) {
	for i, n := range names {
		if i > 0 {
			text += ", "
		}
		text += n
	}
	return text
}

// decideAwait changes how long the caller waits for a call.
func (s *State) decideAwait(actor string, do AwaitCall, now Now) ([]Body, error) {
	c := s.call(do.Call)
	if c == nil || c.Caller != actor {
		return nil, unknownCall(do.Call)
	}
	if !c.State.Open() {
		if do.Lost && !c.Posted && (s.Phase == PhaseLive || s.Phase == PhasePaused) {
			return []Body{s.resultMessage(*c, *c.Result, now)}, nil
		}
		return nil, nil
	}
	b := changedOf(c)
	b.WaitUntil = 0
	if do.Wait > 0 {
		b.WaitUntil = min(now.Clock+do.Wait, c.Deadline())
	}
	if b.WaitUntil == c.WaitUntil {
		return nil, nil
	}
	return []Body{b}, nil
}

func changedOf(c *Call) CallChanged {
	return CallChanged{Call: c.ID, State: c.State, Asked: c.Asked, Text: c.Text, Canceling: c.Canceling, WaitUntil: c.WaitUntil}
}

// decideCancelCall cancels a call for its caller or a person.
func (s *State) decideCancelCall(actor string, do CancelCall) ([]Body, error) {
	c := s.call(do.Call)
	switch {
	case c == nil || c.Caller != actor && !s.control(actor):
		return nil, unknownCall(do.Call)
	case !c.State.Open() || c.Canceling != "":
		return nil, nil
	}
	why := cleanReason(do.Reason)
	if why == "" || actor != c.Caller { // the event has the room as its actor
		why = join("cancelled by "+actor, why)
	}
	return []Body{canceling(c, why)}, nil
}

// join joins what was done and why.
func join(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

func canceling(c *Call, why string) CallChanged {
	b := changedOf(c)
	b.Canceling = why
	return b
}

// delegable returns what x and all its callers may delegate.
func (s *State) delegable(x *Seat) rights.Set {
	_, d := x.Rights()
	if of := s.Spec.Call; of != nil {
		d &= rights.Of(of.Delegate)
	}
	return d
}

// MayStart returns the rights that an agent may have at most that a seat starts outside of
// calls, such as a session of its own. An agent that was called starts others only if it
// may call them.
func (s *State) MayStart(id string) (rights.Set, error) {
	x := s.seat(id)
	switch {
	case x == nil:
		return rights.None, deniedError(id, "start agents")
	case s.Spec.Call != nil && !s.Spec.Call.Nested:
		return rights.None, nestedOff(x)
	}
	return s.delegable(x), nil
}

func nestedOff(x *Seat) error {
	return invalidError("ROOM-CALL-DENIED", x.ID+" was called itself, and nested calls are off", "its caller can set allow_nested_calls")
}

// callRights returns the rights of an agent that x calls: its own, as far as all callers
// may delegate them and x asks for them.
func (s *State) callRights(x *Seat, target Participant, a calls.Args) rights.Set {
	use, _ := target.Rights()
	return rights.Effective(use, []rights.Set{s.delegable(x)}, requested(&a), rights.All)
}

// requested returns the rights that a call asks for, all of them if it names none.
func requested(a *calls.Args) rights.Set {
	if a == nil || a.AllowedTools == nil {
		return rights.All
	}
	return rights.Of(a.AllowedTools)
}
