// Package kinds is the table of the kinds of messages: who may send each to whom,
// and who may read it at most. It is the only place that says so. The kinds are those
// of the manager/worker messaging note and four of this project.
//
// The package is pure and imports nothing of this module.
package kinds

import "strings"

// A Party is a set of groups of participants.
type Party uint8

// Groups of participants. A participant may be of several: a person can have the
// role of the manager.
const (
	People  Party = 1 << iota // persons, and the host
	Manager                   // agents with the role "manager"
	Worker                    // agents with the role "worker" or "specialist:NAME"
	Agent                     // all other agents

	Anybody = People | Manager | Worker | Agent
	Nobody  = Party(0)
)

// PartyOf returns the groups of a participant by its role.
func PartyOf(person bool, role string) Party {
	p := Nobody
	if person {
		p = People
	}
	switch role = strings.ToLower(role); {
	case role == "manager":
		return p | Manager
	case role == "worker", strings.HasPrefix(role, Specialist) && len(role) > len(Specialist):
		return p | Worker
	case person:
		return p
	}
	return Agent
}

// Specialist is the beginning of the role of a specialist, such as "specialist:pcb".
const Specialist = "specialist:"

// String returns the groups in words.
func (p Party) String() string {
	if p == Anybody {
		return "anybody"
	}
	var words []string
	for _, g := range []struct {
		of   Party
		name string
	}{{People, "people"}, {Manager, "manager"}, {Worker, "worker or specialist"}, {Agent, "other agents"}} {
		if p&g.of != 0 {
			words = append(words, g.name)
		}
	}
	if len(words) == 0 {
		return "nobody"
	}
	return strings.Join(words, ", ")
}

// Kinds of messages.
const (
	Utterance = "utterance" // ordinary talk
	Request   = "request"   // a request of a person

	IntentBrief          = "intent_brief"
	ClarificationRequest = "clarification_request"
	ClarificationReply   = "clarification_reply"
	PlanUpdate           = "plan_update"
	ToolIntent           = "tool_intent"
	ToolResult           = "tool_result"
	BuildUpdate          = "build_update"
	Blocker              = "blocker"
	Decision             = "decision"
	StatusCheck          = "status_check"
	StatusReply          = "status_reply"
	ResultBundle         = "result_bundle"
	FinalResponse        = "final_response"
	Cancel               = "cancel"
	Ack                  = "ack"

	Call       = "call"        // the task of a sub-agent; only the room posts it
	CallResult = "call_result" // its result; only the room posts it
)

// Levels of visibility, as in the log; see [Rule].
const (
	visible  = "user_visible"
	redacted = "user_redacted"
	internal = "internal"
)

// A Rule says who may send messages of a kind to whom. Visibility is the widest that
// such a message may have, and the one that it has if its sender names none.
type Rule struct {
	Kind       string
	From, To   Party
	Visibility string
	Progress   bool // people see that the work goes on; loop guards start again
}

// Rules returns the table.
func Rules() []Rule {
	return []Rule{
		{IntentBrief, Manager, Worker, internal, false},
		{ClarificationReply, Manager, Worker, internal, false},
		{Decision, Manager, Worker, internal, false},
		{StatusCheck, Manager, Worker, internal, false},
		{Cancel, Manager, Worker, internal, false},
		{ClarificationRequest, Worker, Manager, internal, false},
		{PlanUpdate, Worker, Manager, internal, false},
		{StatusReply, Worker, Manager, internal, false},
		{ResultBundle, Worker, Manager, internal, false},
		{ToolIntent, Worker, Manager, visible, false},
		{ToolResult, Worker, Manager, visible, true},
		{BuildUpdate, Worker, Manager, visible, true},
		{Blocker, Worker, Manager, visible, false},
		{FinalResponse, Manager, People, visible, true},
		{Ack, Anybody, Anybody, internal, false},
		{Call, Nobody, Nobody, internal, false},
		{CallResult, Nobody, Nobody, internal, false},
		{Utterance, Anybody, Anybody, visible, false},
		{Request, People, Anybody, visible, false},
	}
}

var rules = func() map[string]Rule {
	m := map[string]Rule{}
	for _, r := range Rules() {
		m[r.Kind] = r
	}
	return m
}()

// Of returns the rule of a kind, and false for an unknown one.
func Of(kind string) (Rule, bool) {
	r, ok := rules[kind]
	return r, ok
}

// Typed reports whether messages of the kind belong to the protocol of a manager and
// its workers, or to calls, and not to ordinary talk.
func Typed(kind string) bool {
	_, ok := rules[kind]
	return ok && kind != Utterance && kind != Request
}

// Check says why a message of r's kind may not go from one participant to another,
// or returns "".
func (r Rule) Check(from, to Party) string {
	switch {
	case r.From == Nobody:
		return "only the room posts messages of the kind " + r.Kind
	case r.From&from == 0:
		return "a message of the kind " + r.Kind + " is from " + r.From.String() + ", and its sender is " + from.String()
	case r.To&to == 0:
		return "a message of the kind " + r.Kind + " is to " + r.To.String() + ", and its receiver is " + to.String()
	}
	return ""
}

// Narrows reports whether a message with that visibility has no more readers than the
// kind allows.
func (r Rule) Narrows(visibility string) bool { return width(visibility) <= width(r.Visibility) }

func width(visibility string) int {
	switch visibility {
	case internal:
		return 0
	case redacted:
		return 1
	}
	return 2
}

// Urgent reports whether a message of that priority is handed over before others.
func Urgent(priority string) bool { return priority == "high" || priority == "urgent" }

// ValidPriority reports whether there is that priority; "" is normal.
func ValidPriority(priority string) bool {
	switch priority {
	case "", "low", "normal", "high", "urgent":
		return true
	}
	return false
}
