package room

import (
	"math"
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/rights"
)

// Bounds of the permission requests of one turn.
const (
	maxRequests     = 200 // in all
	maxOpenRequests = 8   // that wait for an answer
)

// A PermissionRequest is a request of the agent that has the turn. It waits for an
// answer of a person.
type PermissionRequest struct {
	ID         string        `json:"id"`
	Permission Permission    `json:"permission"`
	Asked      time.Duration `json:"asked_ns"` // room clock
	At         time.Time     `json:"at,omitzero"`
	Timeout    time.Duration `json:"timeout_ns"`

	Calls []calls.Args `json:"calls,omitempty"` // that are started when it is allowed
}

// Until returns the room clock at which r is refused for want of an answer.
func (r PermissionRequest) Until() time.Duration { return r.Asked + r.Timeout }

// decideAsked records a permission request, and its answer if no person is needed.
// Only a rule of the owner allows without a person.
func (s *State) decideAsked(actor string, do Asked) ([]Body, error) {
	x, t := s.seat(actor), s.Turn
	switch {
	case x == nil || x.foreign():
		return nil, deniedError(actor, "ask for a permission: only the owner of an agent gives one, on the agent's device")
	case t == nil || t.Participant != x.ID || s.openTurn(t.Number, do.Request) == nil:
		return nil, permissionError(x.ID+" has asked for a permission outside its turn", "")
	case len(t.Requests) >= maxOpenRequests:
		return nil, permissionError(count(len(t.Requests), "permission request")+" of "+x.ID+" wait for an answer", "wait for the answers")
	case t.Asked >= maxRequests:
		return nil, permissionError(x.ID+" has asked for "+count(t.Asked, "permission")+" in this turn", "allow what it needs with rules under allow: in room.yaml")
	}
	p, whole := do.Permission.Bounded()
	p.Dir = ""
	asked := PermissionAsked{Turn: t.Number, Participant: x.ID, ID: itoa(t.Number) + "." + itoa(t.Asked+1), Permission: p, Timeout: s.Limits.PermissionTimeout}
	a := do.Answer
	refusal := ""
	if do.SignIn {
		asked.Permission.Kind = ActionSignIn
	} else {
		refusal = x.withheld(do.Permission)
	}
	switch {
	case refusal != "":
		a = &endpoint.Answer{By: endpoint.RuledBy, Reason: refusal}
	case !whole:
		a = &endpoint.Answer{By: endpoint.Unasked, Reason: "the request is too long to be shown to a person"}
	case a == nil && p.Long: // a rule may allow it
		a = &endpoint.Answer{By: endpoint.Unasked, Reason: "what it writes is too long to be shown to a person"}
	case a == nil:
		return []Body{asked}, nil
	}
	return []Body{asked, PermissionAnswered{
		Turn: t.Number, Participant: x.ID, ID: asked.ID, Allowed: a.Allowed && a.By == endpoint.RuledBy, By: a.By, Reason: cleanReason(a.Reason),
	}}, nil
}

// ActionSignIn is the kind of a request of the room itself: the owner of a called agent
// has to sign in. It is allowed when that is done. No agent can ask with that kind.
const ActionSignIn = "signin"

// Rights returns the tool rights of the agent of p: what it may use, and what it may let
// the agents have that it calls.
func (p Participant) Rights() (use, delegate rights.Set) {
	return rights.For(p.Role, p.MayUse, p.MayDelegate)
}

// withheld says why x may not do what p is about, "" if its rights have it. An action
// needs the right of its kind. One that states a command needs execute too, and one
// that states a change of a file needs one of those that change files: the kind is a word of the
// agent. A question is no action.
func (x *Seat) withheld(p Permission) string {
	if p.Question != nil {
		return ""
	}
	use, _ := x.Rights()
	need := rights.Kind(p.Kind)
	if p.Command != "" || len(p.Argv) > 0 {
		need |= rights.Execute
	}
	if (len(p.Diffs) > 0 || p.Long) && need&(rights.Edit|rights.Delete|rights.Move) == rights.None {
		need |= rights.Edit
	}
	if use.Has(need) {
		return ""
	}
	return x.ID + " may not " + (need &^ use).Verb() + ": its tools are " + use.String()
}

// foreign reports whether the agent of x is of another owner, who alone decides
// what it may do.
func (x *Seat) foreign() bool {
	return x.Kind == policy.Remote || x.Device != "" || x.Participant.Owner != ""
}

// decidePermit answers a permission request for a person. Persons with control are
// of the host's device, and therefore of the owner of its agents.
func (s *State) decidePermit(actor string, do Permit, now Now) ([]Body, error) {
	if !s.control(actor) {
		return nil, deniedError(actor, "answer permission requests")
	}
	r := s.openRequest(do.ID)
	switch {
	case r == nil && s.answer(do.ID) != nil:
		return nil, s.answer(do.ID).problem("permission request")
	case r == nil:
		return nil, permissionError("no permission request "+quote(cut(validUTF8(do.ID), maxID))+" waits", "")
	case do.Absent:
		return []Body{s.answered(*r, endpoint.Unasked, do.Reason)}, nil
	case do.Always && !r.Permission.Always:
		return nil, permissionError("the agent does not offer to remember an answer", "allow it once; a rule under allow: in room.yaml answers the like")
	}
	a := s.answered(*r, actor, do.Reason)
	a.Allowed, a.Always = do.Allowed, do.Allowed && do.Always
	var err error
	a.Values, err = r.fill(do)
	if err != nil || !a.Allowed || r.Calls == nil {
		return []Body{a}, err
	}
	return s.permitCalls(*r, a, now), nil
}

// fill returns the values with which a person answers a question, nil for other
// answers. They fit the form.
func (r PermissionRequest) fill(do Permit) (policy.JSON, error) {
	q := r.Permission.Question
	switch {
	case !do.Allowed || q == nil && do.Values == nil:
		return nil, nil
	case q == nil:
		return nil, valuesError(r.ID, "it is no question, and takes no values", "allow or deny it")
	}
	values, err := q.Fill(do.Values)
	if err != nil {
		return nil, valuesError(r.ID, err.Error(), "`moot inbox` shows the form; the question still waits")
	}
	return values, nil
}

func valuesError(id, why, fix string) error {
	return invalidError("ROOM-VALUES", "question "+id+" was not answered: "+why, fix)
}

// decideWithdrawn answers a request for which the agent does not wait any more.
func (s *State) decideWithdrawn(actor string, do Withdrawn) []Body {
	r := s.openRequest(do.ID)
	if r == nil || s.Turn.Participant != actor {
		return nil
	}
	return []Body{s.answered(*r, endpoint.Cancelled, "the agent waits no longer")}
}

// answered returns the event that refuses r.
func (s *State) answered(r PermissionRequest, by, reason string) PermissionAnswered {
	return PermissionAnswered{Turn: s.Turn.Number, Participant: s.Turn.Participant, ID: r.ID, By: by, Reason: cleanReason(reason)}
}

// RequestOpen reports whether the permission request with id waits.
func (s *State) RequestOpen(id string) bool { return s.openRequest(id) != nil }

// openRequest returns the permission request with id that waits, or nil.
func (s *State) openRequest(id string) *PermissionRequest {
	if s.Turn == nil {
		return nil
	}
	for i := range s.Turn.Requests {
		if s.Turn.Requests[i].ID == id {
			return &s.Turn.Requests[i]
		}
	}
	return nil
}

// overdue refuses the requests whose time is over.
func (s *State) overdue(t *Turn, now time.Duration) (bodies []Body) {
	for _, r := range t.Requests {
		if now >= r.Until() {
			bodies = append(bodies, s.answered(r, endpoint.NoAnswer, "no person has answered in time"))
		}
	}
	return bodies
}

// withAnswers adds to bodies the answers to the requests that wait, before the event
// that ends their turn: an agent must not wait for an answer that cannot come.
func (s *State) withAnswers(bodies []Body) []Body {
	if s.Turn == nil || len(s.Turn.Requests) == 0 {
		return bodies
	}
	at := slices.IndexFunc(bodies, func(b Body) bool { return s.endOfTurn(b) != "" })
	if at < 0 {
		return bodies
	}
	var answers []Body
	for _, r := range s.Turn.Requests {
		if slices.ContainsFunc(bodies[:at], func(b Body) bool { a, ok := b.(PermissionAnswered); return ok && a.ID == r.ID }) {
			continue // a person allowed calls, and they have stopped the room
		}
		answers = append(answers, s.answered(r, endpoint.Cancelled, s.endOfTurn(bodies[at])))
	}
	return slices.Insert(bodies, at, answers...)
}

// endOfTurn returns why the agent does not work on the open turn after b, or "".
func (s *State) endOfTurn(b Body) string {
	switch b := b.(type) {
	case TurnInterrupted:
		return "the turn was interrupted: " + b.Reason
	case TurnFailed:
		return "the turn has failed: " + b.Code
	case TurnDrafted, TurnPassed:
		return "the turn has ended"
	case MessagePosted:
		if b.Turn == s.Turn.Number {
			return "the turn has ended"
		}
	}
	return ""
}

func (s *State) applyAsked(e Event, b PermissionAsked) {
	t := s.Turn
	if t == nil || t.Number != b.Turn {
		return
	}
	if !t.holds() {
		t.HeldAt = e.Clock
	}
	t.Asked++
	t.Requests = append(t.Requests, PermissionRequest{ID: b.ID, Permission: b.Permission, Asked: e.Clock, At: e.At, Timeout: b.Timeout, Calls: b.Calls})
}

func (s *State) applyAnswered(e Event, b PermissionAnswered) {
	r := s.openRequest(b.ID)
	if r == nil {
		return
	}
	if b.By != endpoint.RuledBy { // it did not wait
		s.addAnswer(e, b.ID, b.outcome())
		s.Answers[len(s.Answers)-1].Question = r.Permission.Question != nil
	}
	t := s.Turn
	held := t.held(e.Clock)
	t.Requests = slices.DeleteFunc(slices.Clone(t.Requests), func(r PermissionRequest) bool { return r.ID == b.ID })
	if len(t.Requests) == 0 {
		t.Requests = nil
	}
	if !t.holds() {
		t.Held, t.HeldAt = held, 0
	}
}

// holds reports whether the clock of the turn stands.
func (t *Turn) holds() bool { return len(t.Requests) > 0 || t.Calling > 0 }

// held returns how long the clock of the turn has stood until now.
func (t *Turn) held(now time.Duration) time.Duration {
	if !t.holds() {
		return t.Held
	}
	return t.Held + max(0, now-t.HeldAt)
}

// deadline returns the room clock at which the turn fails or, while requests wait,
// the first of them is refused. A turn that only waits for calls has none: they end.
func (t *Turn) deadline() time.Duration {
	if !t.holds() {
		return t.Started + t.Timeout + t.Held + grace
	}
	at := time.Duration(math.MaxInt64)
	for _, r := range t.Requests {
		at = min(at, r.Until())
	}
	return at
}

// work returns the part of a latency that ends now in which the agent did not wait
// for a person.
func (t *Turn) work(latency, now time.Duration) time.Duration { return max(0, latency-t.held(now)) }

func permissionError(what, fix string) error { return invalidError("ROOM-PERMISSION", what, fix) }

// permissionFollows checks that an agent asks in its turn, and once with an id.
func (s *State) permissionFollows(b PermissionAsked) string {
	why := s.turnFollows(b.Turn)
	switch {
	case why != "":
		return why
	case s.Turn.Participant != b.Participant || s.Turn.Draft != nil:
		return "it asks a permission for " + b.Participant + ", which does not have the turn"
	case s.openRequest(b.ID) != nil:
		return "it asks the permission " + b.ID + " twice"
	}
	return ""
}
