package room_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/invariant"
	"github.com/folkmoot/moot/room/kinds"
)

// TestModel gives random commands to rooms of every kind and to the model, and
// compares what both answer, each event, and the state after it.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		for range 10 { // rooms
			compareRoom(rt)
		}
	})
}

func compareRoom(rt *rapid.T) {
	var s room.State
	open := drawRoom(rt)
	circling := rapid.IntRange(0, 4).Draw(rt, "circling") == 0 && circle(&open)
	evs, err := s.Decide(room.Command{ID: "open", Actor: room.ActorHost, Do: open}, room.Now{})
	if err != nil {
		rt.Fatal(err)
	}
	check := invariant.New()
	for _, e := range evs {
		s.Apply(e)
		holds(rt, check, e, &s)
	}
	m := newModel(open)
	clock := time.Duration(0)
	for i := range rapid.IntRange(10, 80).Draw(rt, "commands") {
		clock += rapid.SampledFrom([]time.Duration{0, 0, time.Second, 30 * time.Second}).Draw(rt, "wait")
		c, drawn := drawCircle(rt, m, circling)
		if !drawn {
			c = drawCommand(rt, m)
		}
		c.ID = "c" + strconv.Itoa(max(0, i-rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 1}).Draw(rt, "repeat")))
		compareStep(rt, m, &s, check, c, clock)
	}
}

// A model is what a room knows, as the rules of model_test.go state it.
type model struct {
	room.Spec
	modelExploration
	limits           room.Limits
	phase            room.Phase
	cause, actor     string
	degraded         bool // it settled without its work
	seats            []*modelSeat
	turn             *modelTurn
	tally            room.Tally
	decision, seq    int64
	epoch            uint64
	bids             []string            // participants that have bid on the next decision
	texts            []string            // of agents, normalised
	steps            []modelStep         // from agent to agent, since a person spoke
	pairs            map[string][]string // of two agents: who handed off to the other, in turns
	watch            bool                // the command has counted a step
	follow           *policy.Handoff     // of the last turn that ended with an answer
	calls            []*modelCall
	called           int             // calls that have ended, with those below them
	seen             map[string]bool // ids of commands and messages
	answered         map[string]bool // drafts and permission requests, by hash and id
	second           bool            // the command answers one of them again
	lastDraft        string          // of those answered
	news, declinedAt int64           // events: the newest that the policy wants to know of, the last decline

	now, clock, retryAt time.Duration
	out                 []room.Body
}

type modelSeat struct {
	room.Participant
	modelSession
	modelBudget
	standing     room.Standing
	set          room.Mode // by a person; "" for that of Participant
	takenBy      string
	last, failed int // its last turn, its failures in a row
	spent        int64
	fault        bool  // the room itself suspended it
	attempt      int64 // the event because of which its agent has to start; 0 when it is ready
	startedAt    time.Duration
}

type modelTurn struct {
	room.TurnGranted
	modelRequests
	modelHandOff
	seat    *modelSeat
	started time.Duration
	epoch   uint64 // of the process that granted it
	draft   *room.TurnDrafted
	drafted time.Duration // since when the text of the draft waits
}

func newModel(open room.Open) *model {
	m := &model{Spec: open.Spec, limits: open.Spec.Limits, phase: room.PhaseLive, seq: 1, seen: map[string]bool{"open": true}, answered: map[string]bool{}}
	for _, p := range open.Participants {
		x := &modelSeat{Participant: p, standing: room.Active}
		x.leave()
		m.seq++
		m.start(x)
		m.seats = append(m.seats, x)
	}
	m.news = m.seq
	return m
}

func (m *model) seat(id string) *modelSeat {
	if i := slices.IndexFunc(m.seats, func(x *modelSeat) bool { return x.ID == id }); i >= 0 {
		return m.seats[i]
	}
	return nil
}

// do gives the model a command and returns the events and whether the command
// is allowed.
func (m *model) do(c room.Command, now time.Duration) (events []room.Body, allowed bool) {
	m.actor, m.now, m.out, m.second, m.watch = c.Actor, now, nil, false, false
	if m.seen[c.ID] {
		return nil, true
	}
	waited := map[*modelCall]int{}
	for _, c := range m.open() {
		if c.WaitUntil > 0 {
			waited[c] = c.Turn
		}
	}
	if allowed = m.act(c.Do); allowed {
		m.loop()
		m.cancelCalls(waited)
	}
	if len(m.out) > 0 {
		m.seen[c.ID] = true
	}
	return m.out, allowed
}

func (m *model) note(b room.Body) bool {
	switch b := b.(type) {
	case room.TurnPassed, room.TurnFailed, room.TurnInterrupted, room.TurnDrafted:
		m.cancel()
	case room.MessagePosted:
		if b.Turn > 0 {
			m.cancel()
		}
	}
	m.seq, m.clock = m.seq+1, max(m.clock, m.now)
	m.out = append(m.out, b)
	return true
}

func draftOf(request, text string) string {
	sum := sha256.Sum256([]byte(request + "\x00" + text))
	return hex.EncodeToString(sum[:])[:16]
}

// normal returns a text as the loop guard compares it. The texts of the test
// differ in case and in what stands around the words only.
func normal(text string) string { return strings.ToLower(strings.Trim(text, " .!?")) }

// compareStep gives one command to both, and compares.
func compareStep(rt *rapid.T, m *model, s *room.State, check *invariant.Checker, c room.Command, clock time.Duration) {
	what := fmt.Sprintf("%s: %T%+v at %v", c.Actor, c.Do, c.Do, clock)
	evs, err := s.Decide(c, room.Now{Wall: time.Unix(1_800_000_000, 0), Clock: clock})
	for _, b := range check.Decided(c, s, evs, err) {
		rt.Fatalf("%s: %v", what, b)
	}
	bodies, allowed := m.do(c, clock)
	if second := errors.Is(err, room.ErrAnswered); second != m.second {
		rt.Fatalf("%s: a second answer is %t in the model, the room says %v", what, m.second, err)
	}
	if allowed != (err == nil) {
		rt.Fatalf("%s: allowed is %t in the model, the room says %v and %+v\n%s", what, allowed, err, evs, m.stateLine())
	}
	var got []room.Body
	for _, e := range evs {
		if why := s.Follows(e); why != "" {
			rt.Fatalf("%s: event %d does not follow: %s", what, e.Seq, why)
		}
		s.Apply(e)
		holds(rt, check, e, s)
		got = append(got, stated(e.Body))
	}
	for i := range bodies {
		bodies[i] = stated(bodies[i])
	}
	if !reflect.DeepEqual(got, bodies) {
		rt.Fatalf("%s:\nroom  %+v\nmodel %+v", what, got, bodies)
	}
	if got, want := stateLine(s), m.stateLine(); got != want {
		rt.Fatalf("%s:\nroom  %s\nmodel %s", what, got, want)
	}
}

// holds checks the invariants after an event.
func holds(rt *rapid.T, check *invariant.Checker, e room.Event, s *room.State) {
	for _, b := range check.Applied(e, s) {
		rt.Fatalf("%+v: %v", e, b)
	}
}

// stated returns an event with the fields that the model states.
func stated(b room.Body) room.Body {
	message := func(m room.Message) room.Message {
		return room.Message{From: m.From, By: m.By, Text: m.Text, Source: m.Source, Confidence: m.Confidence}
	}
	switch b := b.(type) {
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

func (m *model) stateLine() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s decision %d, %d turns %d failures %d declines %d tokens %d cost %d cached %t %t", m.phase, m.cause, m.decision,
		m.tally.Turns, m.tally.Failures, m.tally.Declines, m.tally.Tokens, m.tally.Cost, m.tally.CachedInput, m.tally.Estimated, m.tally.CostEstimated)
	for _, x := range m.seats {
		fmt.Fprintf(&out, ", %s %s %q %q %d tokens %d failures", x.ID, x.standing, x.takenBy, m.ineligible(x), x.spent, x.failed)
	}
	if m.turn != nil {
		for _, e := range m.turn.open {
			out.WriteString(", asks " + e.ID)
		}
	}
	fmt.Fprintf(&out, ", follows %+v, request %t, replaced %q, %d calls%s", m.follow, m.addressed, m.replaced, m.called, m.callEffects())
	if m.phase != room.PhaseLive {
		return out.String()
	}
	until, ask, waits, eligible, away, bids := m.callsUntil(m.limits.MaxDuration), m.retryAt, false, false, false, ""
	if m.tally.Declines == 0 || m.news > m.declinedAt {
		ask = 0
	}
	for _, x := range m.seats {
		if m.starts(x) {
			fmt.Fprintf(&out, ", start %s %d", x.ID, x.attempt)
			until, ask, waits = min(until, x.startedAt+x.StartTimeout+time.Second), max(ask, x.startedAt+10*time.Second), true
		}
		eligible, away = eligible || m.ineligible(x) == "", away || m.ineligible(x) == "away"
		if m.Policy.Needs.Bids && !x.NoBids && m.ineligible(x) == "" && x.takenBy == "" && !slices.Contains(m.bids, x.ID) {
			bids += fmt.Sprintf(", bid %d %s", m.decision+1, x.ID)
		}
	}
	if t := m.turn; t == nil {
		last := m.tally.Declines+1 >= m.limits.MaxDeclines
		calling := len(m.open()) > 0
		if !(waits && (last || !eligible)) && !(away && !eligible) && !(calling && m.callsHold()) && !((away || calling) && last && m.news <= m.declinedAt) {
			out.WriteString(cmp.Or(bids, fmt.Sprintf(", ask %v", ask)))
		}
	} else if t.draft == nil && t.seat.takenBy == "" {
		fmt.Fprintf(&out, ", speak %d %s", t.Turn, t.Request)
		until = min(until, m.until(t))
	} else if t.draft != nil && m.limits.DraftTimeout > 0 {
		until = min(until, t.drafted+m.limits.DraftTimeout)
	}
	fmt.Fprintf(&out, ", until %v", until)
	return out.String()
}
