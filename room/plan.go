package room

import (
	"slices"
	"strings"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room/kinds"
	"github.com/folkmoot/moot/room/plan"
)

// ClaimTask is an act of a worker or specialist: it takes a free task of the plan, or
// begins one that is its own. Of several that claim one task only the first gets it.
type ClaimTask struct{ Task string }

func (ClaimTask) act() {}

// PlanChanged records what a message of Participant, or its claim, changes in the plan.
// It follows the message in the same command.
type PlanChanged struct {
	Participant string `json:"participant"`
	Message     string `json:"message_id,omitempty"` // "" for a claim
	plan.Change
}

// Type returns the stable name of the body.
func (PlanChanged) Type() string { return "plan.changed" }

// withPlan returns what follows from a message: the change of the plan by its payload,
// which m itself may only refer to.
func (s *State) withPlan(m Message, payload policy.JSON, now Now) ([]Body, error) {
	change, err := s.Plan.Change(plan.Post{
		ID: m.ID, Kind: m.Kind, From: m.From, To: m.To, Answers: nonEmpty(m.Correlation, m.Parent), Payload: payload, At: now.Clock, Owner: s.taskOwner,
	})
	if err != nil || change == nil {
		return nil, err
	}
	return []Body{PlanChanged{Participant: m.From, Message: m.ID, Change: *change}}, nil
}

func nonEmpty(ids ...string) []string {
	var out []string
	for _, id := range ids {
		if id != "" {
			out = append(out, id)
		}
	}
	return out
}

// taskOwner returns the id of the worker or specialist with that id or role.
func (s *State) taskOwner(name string) (string, bool) {
	x := s.seat(s.resolve(name))
	if x == nil || x.Standing == Removed || x.party()&kinds.Worker == 0 {
		return "", false
	}
	return x.ID, true
}

// decideClaimTask gives a task to the worker that claims it first.
func (s *State) decideClaimTask(actor string, do ClaimTask, now Now) ([]Body, error) {
	x := s.seat(actor)
	switch {
	case x == nil || x.Standing != Active || x.party()&kinds.Worker == 0:
		return nil, deniedError(actor, "claim tasks: only workers and specialists do")
	case x.TakenBy != "":
		return nil, deniedError(actor, "claim tasks while "+x.TakenBy+" has its seat")
	case s.Phase != PhaseLive:
		return nil, deniedError(actor, "claim tasks while the room is "+string(s.Phase))
	}
	change, err := s.Plan.Claim(validUTF8(do.Task), x.ID, now.Clock)
	if err != nil || change == nil {
		return nil, err
	}
	return []Body{PlanChanged{Participant: x.ID, Change: *change}}, nil
}

// applyPlan folds a change of the plan. The policy is asked again, because its input has
// the open tasks.
func (s *State) applyPlan(e Event, b PlanChanged) {
	s.Plan.Apply(b.Change)
	s.LastNews = e.Seq
}

// tasksOf returns the open tasks of a participant for the input of the policy.
func (s *State) tasksOf(id string) []policy.Task {
	var out []policy.Task
	for i := range s.Plan.Tasks {
		if t := &s.Plan.Tasks[i]; t.Owner == id && !t.State.Ended() && len(out) < policy.MaxTasks {
			out = append(out, policy.Task{ID: t.ID, Title: t.Title, State: string(t.State), After: s.Plan.Waits(t)})
		}
	}
	return out
}

// withFinal returns bodies with the end of the room after the final response: when the
// turn of the manager that gave it ends, or at once if another agent has the turn.
func (s *State) withFinal(bodies []Body) []Body {
	final, open, live := s.Plan.Final, s.Turn != nil, s.Phase == PhaseLive
	by := ""
	for _, b := range bodies {
		switch b := b.(type) {
		case PlanChanged:
			if b.Final != "" {
				final, by = b.Final, b.Participant
			}
		case MessagePosted:
			open = open && b.Turn == 0
		case TurnPassed, TurnFailed, TurnRejected, TurnInterrupted:
			open = false
		case Paused, Stopped, Completed, Errored:
			live = false
		case Resumed:
			live = true
		}
	}
	switch {
	case final == "" || !live:
		return bodies
	case open && by == "" || open && s.Turn.Participant == by:
		return bodies // the turn of the manager goes on
	case open:
		bodies = append(bodies, s.abandon("the manager has given the final response")...)
	}
	return append(bodies, Completed{Cause: CauseFinalResponse, Reason: "final response, message " + final})
}

// narrator returns the agent that alone talks to people: the one active seat with that
// role. It is nil if there is none, if there are several, or if a person has its seat.
func (s *State) narrator() *Seat {
	var found *Seat
	for _, x := range s.Seats {
		if x.Driven() && x.Standing == Active && x.party()&kinds.Manager != 0 {
			if found != nil {
				return nil
			}
			found = x
		}
	}
	if found == nil || found.TakenBy != "" {
		return nil
	}
	return found
}

// narrated returns the ordinary talk of an agent as it is posted. In a room with a
// manager, what a worker says to everybody or to people goes to the manager instead.
func (s *State) narrated(x *Seat, m Message) Message {
	n := s.narrator()
	if n == nil || x == n || x.party()&kinds.Worker == 0 || kinds.Typed(m.Kind) {
		return m
	}
	if y := s.seat(m.To); m.To == Broadcast || y != nil && !y.Driven() {
		m.To = n.ID
	}
	if s.seat(m.To) != nil {
		m.Visibility = Internal
	}
	return m
}

// steered returns the message of a person as it is posted. In a room with a manager,
// one to everybody or to a worker is a request that the manager gets. The manager turns
// it into a decision or a clarification_reply.
func (s *State) steered(m Message) Message {
	n := s.narrator()
	if n == nil || m.By != "" || m.To == n.ID {
		return m
	}
	y := s.seat(m.To)
	switch {
	case m.To == Broadcast:
	case y != nil && y.Driven() && y.party()&kinds.Worker != 0:
		m.For = y.ID
	default:
		return m
	}
	m.To, m.Kind = n.ID, KindRequest
	return m
}

// A Steering is a request of a person that the manager got, and the manager's first
// decision or clarification_reply whose correlation_id or parent_id is the request.
type Steering struct {
	Message string `json:"message_id"` // the request
	Seq     int64  `json:"seq"`
	From    string `json:"from_agent"`
	For     string `json:"for_agent,omitempty"` // the worker that the person addressed
	Reply   string `json:"reply_id,omitempty"`  // "" while it is not answered
	Kind    string `json:"reply_kind,omitempty"`
	To      string `json:"reply_to,omitempty"` // the receiver of the answer
	Replied int64  `json:"reply_seq,omitempty"`
}

// OfPerson reports whether a person, or a program of one, has sent the message in its own
// name.
func (m Message) OfPerson() bool {
	return m.By == "" && (m.Kind == KindRequest || m.Source == SourceUser || m.Source == SourceApplet)
}

// maxSteering is the number of requests that a state lists.
const maxSteering = 20

// noteSteering notes a request that the manager got, and the manager's answer to one.
func (s *State) noteSteering(e Event, m Message) {
	n := s.narrator()
	switch {
	case n == nil:
	case m.OfPerson() && m.To == n.ID:
		s.Steering = append(s.Steering[max(0, len(s.Steering)+1-maxSteering):len(s.Steering):len(s.Steering)], Steering{Message: m.ID, Seq: e.Seq, From: m.From, For: m.For})
	case m.From == n.ID && (m.Kind == kinds.Decision || m.Kind == kinds.ClarificationReply):
		s.Steering = slices.Clone(s.Steering)
		for i := range s.Steering {
			if x := &s.Steering[i]; x.Reply == "" && slices.Contains(nonEmpty(m.Correlation, m.Parent), x.Message) {
				x.Reply, x.Kind, x.To, x.Replied = m.ID, m.Kind, m.To, e.Seq
			}
		}
	}
}

// duty returns the part that x has in the protocol of a manager and its workers, one of
// endpoint's constants, or "". There must be a participant of the other part, and the
// caller of a child room is none.
func (s *State) duty(x *Seat) string {
	other, duty := kinds.Worker, endpoint.DutyManager
	switch party := x.party(); {
	case s.Spec.Call != nil, !x.Driven():
		return ""
	case party&kinds.Worker != 0:
		other, duty = kinds.Manager, endpoint.DutyWorker
	case party&kinds.Manager == 0:
		return ""
	}
	for _, y := range s.Seats {
		if y.Standing != Removed && y.party()&other != 0 {
			return duty
		}
	}
	return ""
}

// viewPlan adds the plan to the view of a reader who may see internal messages.
func (s *State) viewPlan(v *View) {
	p := &s.Plan
	v.Intent, v.Criteria, v.Tasks, v.Proposals, v.Checks, v.Steering = p.Intent, p.Judged(), append([]plan.Task(nil), p.Tasks...), p.Proposals, p.Checks, s.Steering
}

// withUrgency makes a cancel urgent: its receiver should know before it works on.
func (m Message) withUrgency() Message {
	if m.Kind == kinds.Cancel && strings.TrimSpace(m.Priority) == "" {
		m.Priority = "urgent"
	}
	return m
}
