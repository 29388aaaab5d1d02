package room

import (
	"slices"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/plan"
	"github.com/folkmoot/moot/room/rights"
)

// A View is a room as people and programs see it.
type View struct {
	Room      string        `json:"room"`
	Name      string        `json:"name,omitempty"`
	Objective string        `json:"objective"`
	OneToOne  bool          `json:"one_to_one,omitempty"`
	Phase     Phase         `json:"phase"`
	Ending    Ending        `json:"ending,omitzero"`
	State     string        `json:"state"` // in the words of the one-to-one note
	Seq       int64         `json:"seq"`
	Clock     time.Duration `json:"clock_ns"`
	Turn      int           `json:"turn"`
	Tally     Tally         `json:"tally"`
	Limits    Limits        `json:"limits"`
	Policy    string        `json:"policy"`
	Seats     []SeatView    `json:"participants"`
	Draft     *Draft        `json:"draft,omitempty"`

	// Requests are the permission requests of the agent that has the turn, oldest
	// first.
	Requests []PermissionRequest `json:"permission_requests,omitempty"`

	// The plan, for readers who may see internal messages; see package plan.
	Intent    *plan.Intent     `json:"intent,omitempty"`
	Criteria  []plan.Criterion `json:"criteria,omitempty"`
	Tasks     []plan.Task      `json:"tasks,omitempty"`
	Proposals []plan.Proposal  `json:"proposals,omitempty"`
	Checks    []plan.Check     `json:"checks,omitempty"`
	Steering  []Steering       `json:"steering,omitempty"`

	// Call says of which call this is the child room, for readers who may see internal
	// messages.
	Call *CallView `json:"call,omitempty"`

	// Raised are the limits with which a room that a limit or a loop guard has
	// stopped can go on.
	Raised Limits `json:"-"`
	// InForce is the policy, which Policy names.
	InForce PolicyRef `json:"-"`
	// Mail is nil for readers without control.
	Mail *MailView `json:"-"`
}

// A CallView says of which call a room is the child room.
type CallView struct {
	Room   string       `json:"room"` // of the caller
	Call   string       `json:"call_id"`
	Caller string       `json:"caller"`
	Agent  string       `json:"agent_name"`
	Chain  []calls.Link `json:"chain"` // who called whom, from the first caller to Caller
}

// A SeatView is a seat as people and programs see it.
type SeatView struct {
	ID        string        `json:"id"`
	Name      string        `json:"name,omitempty"`
	Kind      string        `json:"kind"`
	Badge     string        `json:"badge"`            // local, shared or human
	Owner     string        `json:"owner,omitempty"`  // of the agent; "" is the host
	Device    string        `json:"device,omitempty"` // of the seat; "" is the host's
	Role      string        `json:"role,omitempty"`
	MayCall   bool          `json:"may_call,omitempty"` // room.yaml lets it call agents, or ask to
	Mode      Mode          `json:"mode,omitempty"`     // in force, of an agent
	ModeSet   bool          `json:"mode_set,omitempty"` // a person has set Mode until the room ends
	TakenBy   string        `json:"taken_by,omitempty"` // the person who has taken the seat over
	Presence  Presence      `json:"presence,omitempty"` // of a running session, while the room may go on
	Phase     string        `json:"phase"`              // idle, away, starting, next, thinking, waiting for approval, waiting for permission, cooling, muted, suspended, removed or taken over
	Why       string        `json:"why,omitempty"`
	Turns     int           `json:"turns"`
	Failures  int           `json:"failures"`         // in a row
	Failed    int           `json:"failed,omitempty"` // failed turns in all
	Passed    int           `json:"passed,omitempty"`
	Tokens    int64         `json:"tokens"`
	Estimated bool          `json:"estimated,omitempty"` // part of Tokens is an estimate
	Cost      int64         `json:"cost,omitempty"`      // in millionths
	Latency   time.Duration `json:"avg_latency_ns"`
	Cooling   int           `json:"cooling,omitempty"` // turns left
	Replies   int           `json:"replies"`
	CatchUp   int64         `json:"cursor"`
	Violation int           `json:"violations,omitempty"`

	CachedInput   int64 `json:"cached_input_tokens,omitempty"` // part of Tokens, as far as stated
	Reasoning     int64 `json:"reasoning_tokens,omitempty"`    // part of Tokens, as far as stated
	CostEstimated bool  `json:"cost_estimated,omitempty"`      // part of Cost is an estimate

	Budget []BudgetMark `json:"budget,omitempty"` // budgets that are near their limit or used

	// Withheld are the kinds of tools that the room refuses an agent of this device, for
	// readers who may see internal messages. Endpoint is that of the agent, if there are any.
	Withheld []string    `json:"withheld,omitempty"`
	Endpoint policy.JSON `json:"-"`
}

// SetMode returns how the mode that a person has set is shown next to the phase of
// a seat, "" for none.
func (v SeatView) SetMode() string {
	if !v.ModeSet {
		return ""
	}
	return " [" + string(v.Mode) + " until the room ends]"
}

// Waiting is what of a room waits for a person with control of it.
type Waiting struct {
	Room, Name  string
	Phase       Phase
	Turn        int           // the open turn
	Participant string        // whose turn it is
	Draft       *Draft        // nil for none
	Timeout     time.Duration // of Draft; 0 for none
	Requests    []PermissionRequest
	Answers     []Answer // newest last

	// Chain is who called whom, from the first caller to the caller of the agent of this
	// room. It is empty for a room that no call has made.
	Chain []calls.Link
}

// Waiting returns what waits for a person. It shares nothing that changes with s.
func (s *State) Waiting() Waiting {
	w := Waiting{Room: s.Spec.Room, Name: s.Spec.Name, Phase: s.Phase, Timeout: s.Limits.DraftTimeout, Answers: slices.Clone(s.Answers)}
	if t := s.Turn; t != nil {
		w.Turn, w.Participant, w.Requests = t.Number, t.Participant, slices.Clone(t.Requests)
		if t.Draft != nil {
			d := *t.Draft
			w.Draft = &d
		}
	}
	if s.Spec.Call != nil {
		w.Chain = slices.Clone(s.Spec.Call.Chain)
	}
	return w
}

// View returns the room as a reader with that level sees it.
func (s *State) View(level Visibility) View {
	v := View{
		Room: s.Spec.Room, Name: s.Spec.Name, Objective: s.Spec.Objective, OneToOne: s.Spec.OneToOne, Phase: s.Phase, Ending: s.Ending,
		State: s.OneToOneState(), Seq: s.Seq, Clock: s.Clock, Turn: s.Tally.Turns, Tally: s.Tally, Limits: s.Limits,
		Policy: s.Policy.Ref.Name, Raised: s.raised(), InForce: s.Policy.Ref,
	}
	for _, x := range s.Seats {
		seat := s.seatView(x)
		if level == Internal {
			x.viewRights(&seat)
		}
		v.Seats = append(v.Seats, seat)
	}
	if level == Internal {
		v.Mail = s.Mail.view()
	}
	if s.Turn != nil && level == Internal {
		v.Requests = slices.Clone(s.Turn.Requests)
	}
	if s.Turn != nil && s.Turn.Draft != nil && level == Internal {
		d := *s.Turn.Draft // only reviewers see a draft
		v.Draft = &d
	}
	if level == Internal {
		s.viewPlan(&v)
	}
	if of := s.Spec.Call; of != nil && level == Internal {
		v.Call = &CallView{Room: of.Room, Call: of.Call, Caller: of.Caller, Agent: of.Agent, Chain: of.Chain}
	}
	return v
}

func (s *State) seatView(x *Seat) SeatView {
	v := SeatView{
		ID: x.ID, Name: x.Name, Kind: x.policyKind(), Badge: x.badge(), Owner: x.Participant.Owner, Device: x.Device, Role: x.Role, TakenBy: x.TakenBy, Phase: "idle", Turns: x.Turns,
		Failures: x.Failures, Failed: x.Failed, Passed: x.Passed, Tokens: x.Spent, Estimated: x.Estimated, Cost: x.Cost, Replies: x.Replies, CatchUp: x.Cursor, Violation: x.Violations,
		CachedInput: x.CachedInput, Reasoning: x.Reasoning, CostEstimated: x.CostEstimated, Budget: x.budgetMarks(), MayCall: s.mayEverCall(x) == nil,
	}
	if x.Replies > 0 {
		v.Latency = x.Latency / time.Duration(x.Replies)
	}
	if x.Driven() {
		v.Mode, v.ModeSet = x.ModeNow(), x.SetMode != ""
	}
	if x.Session && (s.Phase == PhaseLive || s.Phase == PhasePaused) {
		v.Presence = x.Presence
	}
	why := s.Ineligible(x)
	switch {
	case x.Standing != Active:
		v.Phase, v.Why = string(x.Standing), x.Why
	case s.Turn != nil && s.Turn.Participant == x.ID && s.Turn.Draft != nil:
		v.Phase, v.Why = "waiting for approval", s.Turn.Draft.Why
	case s.Turn != nil && s.Turn.Participant == x.ID && len(s.Turn.Requests) > 0:
		v.Phase, v.Why = "waiting for permission", count(len(s.Turn.Requests), "request")
	case s.Turn != nil && s.Turn.Participant == x.ID:
		if v.Phase = "thinking"; s.Turn.Exploration.Replaced(x.ID) {
			v.Why = s.Turn.Exploration.Text()
		}
	case x.TakenBy != "":
		v.Phase, v.Why = "taken over", "by "+x.TakenBy
	case v.Presence == Away:
		v.Phase, v.Why = "away", "no session awaits its turn"
	case s.starting(x):
		v.Phase = "starting"
	case why == "cooldown":
		v.Phase, v.Cooling = "cooling", x.Cooldown-(s.Tally.Turns-x.LastTurn)
	case why == "budget":
		v.Why = "token budget used"
		if m := x.overBudget(); m != nil {
			v.Why = "budget used: " + m.Text()
		}
	case v.Presence != "":
		v.Why = "session " + string(v.Presence)
	}
	return v
}

// viewRights adds what the room refuses an agent of this device.
func (x *Seat) viewRights(v *SeatView) {
	if use, _ := x.Rights(); x.Kind == policy.Local && !use.Has(rights.All) && len(x.Participant.Endpoint) > 0 {
		v.Withheld, v.Endpoint = (rights.All &^ use).Names(), x.Participant.Endpoint
	}
}

// badge tells the host's agents from those of other owners.
func (x *Seat) badge() string {
	switch x.policyKind() {
	case policy.Human:
		return "human"
	case policy.Remote:
		return "shared"
	}
	return "local"
}

// OneToOneState returns the room's state in the words of the one-to-one note: idle,
// planning, waiting_local, ready_to_send, waiting_remote, processing_remote,
// completed, paused, error or stopped.
func (s *State) OneToOneState() string {
	switch s.Phase {
	case PhaseUnopened:
		return "idle"
	case PhaseLive:
		return s.oneToOneLiveState()
	}
	return string(s.Phase)
}

func (s *State) oneToOneLiveState() string {
	t := s.Turn
	switch {
	case t == nil && s.Tally.Messages == 0:
		return "planning"
	case t == nil:
		return "processing_remote"
	case t.Draft != nil:
		return "ready_to_send"
	}
	if x := s.seat(t.Participant); x != nil && x.Kind == "remote" {
		return "waiting_remote"
	}
	return "waiting_local"
}
