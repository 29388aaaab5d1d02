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

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
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
	for _, e := range evs {
		s.Apply(e)
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
		compareStep(rt, m, &s, c, clock)
	}
}

// A model is what a room knows, as the rules of model_test.go state it.
type model struct {
	room.Spec
	limits           room.Limits
	phase            room.Phase
	cause, actor     string
	degraded         bool // it settled without its work
	seats            []*modelSeat
	turn             *modelTurn
	tally            room.Tally
	decision, seq    int64
	epoch            uint64
	bids             []string        // participants that have bid on the next decision
	texts            []string        // of agents, normalised
	steps            []modelStep     // from agent to agent, since a person spoke
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
	m.actor, m.now, m.out, m.second = c.Actor, now, nil, false
	if m.seen[c.ID] {
		return nil, true
	}
	allowed = m.act(c.Do)
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

// drawRoom draws a room with small limits, so that they are reached.
func drawRoom(rt *rapid.T) room.Open {
	l := room.Defaults(false)
	l.MaxTurns = rapid.IntRange(1, 9).Draw(rt, "maxTurns")
	l.MaxFailures = rapid.IntRange(1, 3).Draw(rt, "maxFailures")
	l.MaxDeclines = rapid.IntRange(1, 3).Draw(rt, "maxDeclines")
	l.MaxDuration = 10 * time.Minute
	l.MaxOutput = 30
	l.MaxTokens = rapid.SampledFrom([]int64{0, 20, 33}).Draw(rt, "maxTokens")
	l.MaxCost = rapid.SampledFrom([]int64{0, 100, 150}).Draw(rt, "maxCost")
	l.PermissionTimeout = permissionTimeout
	l.DraftTimeout = rapid.SampledFrom([]time.Duration{0, 0, 40 * time.Second}).Draw(rt, "draftTimeout")
	l.SameText, l.SameTextOf = rapid.IntRange(2, 3).Draw(rt, "sameText"), 4
	l.MaxRing = rapid.IntRange(3, 6).Draw(rt, "maxRing")
	o := room.Open{Spec: room.Spec{
		Room: "r1", Secret: "s", Limits: l, OneToOne: rapid.Bool().Draw(rt, "oneToOne"),
		OnRestart: rapid.SampledFrom([]string{"", room.RestartContinue}).Draw(rt, "onRestart"),
		Objective: rapid.SampledFrom([]string{"", "decide this"}).Draw(rt, "objective"),
	}}
	o.Spec.Policy.Needs.Bids = rapid.IntRange(0, 3).Draw(rt, "bids") == 0
	process, sessions := rapid.Bool().Draw(rt, "processes"), rapid.Bool().Draw(rt, "sessions")
	for _, id := range []string{"a", "b", "c"} {
		if id == "c" && o.Spec.OneToOne {
			break
		}
		p := room.Participant{ID: id, Kind: policy.Local, Mode: rapid.SampledFrom([]room.Mode{room.FullAuto, room.FullAuto, room.SemiAuto, room.Manual, ""}).Draw(rt, "mode")}
		if rapid.IntRange(0, 3).Draw(rt, "remote") == 0 {
			p.Kind, p.Device = policy.Remote, "dev"
		}
		p.Timeout = rapid.SampledFrom([]time.Duration{50 * time.Second, 20 * time.Second}).Draw(rt, "timeout")
		p.Cooldown = rapid.IntRange(0, 2).Draw(rt, "cooldown")
		p.MaxTokens = rapid.SampledFrom([]int64{0, 0, 40}).Draw(rt, "budget")
		p.Price = room.Price{Input: 3_000_000, CachedInput: 1_000_000, Output: 5_000_000}
		p.NoBids = rapid.IntRange(0, 2).Draw(rt, "noBids") == 0
		p.Starts = process && rapid.IntRange(0, 2).Draw(rt, "starts") > 0
		p.StartTimeout = rapid.SampledFrom([]time.Duration{5 * time.Second, 40 * time.Second}).Draw(rt, "startTimeout")
		p.Session = sessions && p.Kind == policy.Local && !p.Starts && rapid.IntRange(0, 2).Draw(rt, "session") > 0
		p.Moderator = rapid.Bool().Draw(rt, "moderator")
		o.Participants = append(o.Participants, p)
	}
	if rapid.IntRange(0, 3).Draw(rt, "people") == 0 {
		return o // nobody
	}
	o.Participants = append(o.Participants, room.Participant{ID: "eve", Kind: policy.Human, Device: "other"}, room.Participant{ID: "me", Kind: policy.Human})
	return o
}

// drawCommand draws a command that mostly fits the state.
func drawCommand(rt *rapid.T, m *model) room.Command {
	draw := func(list ...string) string { return rapid.SampledFrom(list).Draw(rt, "x") }
	person := func(do room.Act) room.Command {
		return room.Command{Actor: draw("host", "host", "me", "me", "eve", "a", "b"), Do: do}
	}
	seat := draw("a", "a", "b", "b", "c", "me", "ghost")
	text := draw("yes", "Yes!", "no", "a, what now?", "b, what now?", "c, go on", "a text that has over thirty characters", "  ")
	turn, request, draft := 0, "none", cmp.Or(m.lastDraft, "none")
	if m.turn != nil && draw("right", "right", "right", "wrong") == "right" {
		turn, request = m.turn.Turn, m.turn.Request
		if m.turn.draft != nil {
			draft = m.turn.draft.Draft
		}
	}
	rec := policy.Record{Decision: m.decision + 1, Through: m.seq}
	if draw("new", "new", "new", "new", "new", "new", "stale") == "stale" {
		rec.Through--
	}
	usage := room.Usage{Known: rapid.Bool().Draw(rt, "known"), Input: 7, Output: 4, CachedInput: rapid.SampledFrom([]int64{0, 0, 5, 8}).Draw(rt, "cached")}
	usage.CostKnown, usage.Cost = rapid.IntRange(0, 3).Draw(rt, "stated") == 0, 21
	decide := func(d policy.Decision) room.Command {
		return room.Command{Actor: room.ActorPolicy, Do: room.Decided{
			Decision: d, Record: rec, Grant: room.Grant{Request: "q" + strconv.Itoa(m.tally.Turns), Tokens: 10}, Unattended: rapid.Bool().Draw(rt, "unattended"),
		}}
	}
	if c, ok := drawAgent(rt, m, seat); ok {
		return c
	}
	if c, ok := drawSession(rt, m, text); ok {
		return c
	}
	switch draw("speak", "speak", "speak", "speak", "reply", "reply", "reply", "reply", "fail", "decline", "draft", "draft", "run", "resume", "seat", "say", "rare") {
	case "speak":
		return decide(policy.Speak(seat, "because"))
	case "decline":
		d := policy.Decline("nothing")
		d.RetryMS = rapid.SampledFrom([]int64{0, 1, 20_000}).Draw(rt, "retry")
		return decide(d)
	case "reply":
		confidence := rapid.SampledFrom([]*float64{nil, ptr(0.9), ptr(0.5), ptr(0.4)}).Draw(rt, "confidence")
		outcome := rapid.SampledFrom([]string{endpoint.Said, endpoint.Said, endpoint.Said, endpoint.Passed, endpoint.Refused}).Draw(rt, "outcome")
		return room.Command{Actor: "a", Do: room.Replied{
			Turn: turn, Participant: "a", Request: request, Latency: time.Second,
			Reply: endpoint.Reply{Outcome: outcome, Text: text, Usage: usage, Confidence: confidence},
		}}
	case "fail":
		code := draw(room.FailTimeout, room.FailFailed, room.FailFailed, room.FailExited, room.FailDenied, room.FailHeld)
		return room.Command{Do: room.Failed{Turn: turn, Request: request, Code: code, Usage: usage}}
	case "draft":
		return person(rapid.SampledFrom([]room.Act{
			room.Approve{Draft: draft}, room.Approve{Draft: draft}, room.Edit{Draft: draft, Text: text}, room.Edit{Draft: draft, Text: text, Approve: true}, room.Reject{Draft: draft, Reason: "no"},
		}).Draw(rt, "review"))
	case "run":
		return person(rapid.SampledFrom([]room.Act{room.Pause{}, room.Pause{}, room.Stop{}, room.Complete{}}).Draw(rt, "run"))
	case "resume":
		return person(room.Resume{})
	case "seat":
		standing := rapid.SampledFrom([]room.Standing{room.Active, room.Active, room.Muted, room.Suspended, room.Removed}).Draw(rt, "standing")
		return person(rapid.SampledFrom([]room.Act{
			room.TakeOver{Participant: seat},
			room.Release{Participant: seat},
			room.SetStanding{Participant: seat, Standing: standing},
			room.SetStanding{Participant: seat, Standing: standing},
			room.SetMode{Participant: seat, Mode: rapid.SampledFrom([]room.Mode{room.FullAuto, room.SemiAuto, room.Manual, "", "other"}).Draw(rt, "mode")},
		}).Draw(rt, "seat"))
	case "say":
		return person(room.Say{Text: text, As: draw("", "", "a", "b"), To: draw("", "", "b", "ghost"), Opening: rapid.Bool().Draw(rt, "opening")})
	}
	l := m.limits
	l.MaxTurns, l.MaxDuration = rapid.IntRange(1, 12).Draw(rt, "turns"), time.Duration(rapid.IntRange(1, 20).Draw(rt, "minutes"))*time.Minute
	return rapid.SampledFrom([]room.Command{
		{Actor: room.ActorRoom, Do: room.Tick{}},
		{Actor: room.ActorRoom, Do: room.Tick{}},
		{Do: room.Exited{Participant: seat, Code: draw(room.FailFailed, room.FailExited)}},
		{Do: room.Exited{Participant: seat, Code: room.FailFailed}},
		{Actor: room.ActorHost, Do: room.Claim{}},
		{Actor: room.ActorHost, Do: room.Claim{Restart: true}},
		person(room.SetLimits{Limits: l}), person(room.Next{Participant: seat, Grant: room.Grant{Request: "q" + strconv.Itoa(m.tally.Turns), Tokens: 10}}),
		decide(policy.Finish("done")), decide(policy.Decision{Action: policy.ActionError, Message: "oops"}),
		{Actor: room.ActorPolicy, Do: room.PolicyFailed{Record: rec}},
	}).Draw(rt, "rare")
}

// drawAgent draws the end of a start that is in progress, a permission, or a bid if
// the policy asks for bids. It reports false if it draws none.
func drawAgent(rt *rapid.T, m *model, seat string) (room.Command, bool) {
	for _, x := range m.seats {
		if m.phase == room.PhaseLive && m.starting(x) && rapid.SampledFrom([]string{"start", "start", "wait"}).Draw(rt, "x") == "start" {
			attempt := x.attempt - rapid.SampledFrom([]int64{0, 0, 0, 0, 1}).Draw(rt, "earlier")
			code := rapid.SampledFrom([]string{"", "", "", "", room.FailFailed, room.FailExited, room.FailDenied}).Draw(rt, "x")
			return room.Command{Do: room.Started{Participant: x.ID, Attempt: attempt, Code: code, Latency: time.Second}}, true
		}
	}
	if c, ok := drawPermission(rt, m); ok {
		return c, true
	}
	if m.Policy.Needs.Bids && rapid.IntRange(0, 2).Draw(rt, "bid") == 0 {
		decision := m.decision + rapid.SampledFrom([]int64{1, 1, 1, 0}).Draw(rt, "decision")
		return room.Command{Do: room.BidMade{Decision: decision, Participant: seat, Bid: policy.Bid{Score: 0.5}}}, true
	}
	return room.Command{}, false
}

func ptr[T any](v T) *T { return &v }

// compareStep gives one command to both, and compares.
func compareStep(rt *rapid.T, m *model, s *room.State, c room.Command, clock time.Duration) {
	what := fmt.Sprintf("%s: %T%+v at %v", c.Actor, c.Do, c.Do, clock)
	evs, err := s.Decide(c, room.Now{Wall: time.Unix(1_800_000_000, 0), Clock: clock})
	bodies, allowed := m.do(c, clock)
	if second := errors.Is(err, room.ErrAnswered); second != m.second {
		rt.Fatalf("%s: a second answer is %t in the model, the room says %v", what, m.second, err)
	}
	if allowed != (err == nil) {
		rt.Fatalf("%s: allowed is %t in the model, the room says %v", what, allowed, err)
	}
	var got []room.Body
	for _, e := range evs {
		s.Apply(e)
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
		return room.TurnGranted{Turn: b.Turn, Participant: b.Participant, Request: b.Request, Tokens: b.Tokens, Timeout: b.Timeout}
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
	if m.phase != room.PhaseLive {
		return out.String()
	}
	until, ask, waits, eligible, away, bids := m.limits.MaxDuration, m.retryAt, false, false, false, ""
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
		if !(waits && (last || !eligible)) && !(away && (!eligible || last && m.news <= m.declinedAt)) {
			out.WriteString(cmp.Or(bids, fmt.Sprintf(", ask %v", ask)))
		}
	} else if t.draft == nil && t.seat.takenBy == "" {
		fmt.Fprintf(&out, ", speak %d %s", t.Turn, t.Request)
		until = min(until, t.until())
	} else if t.draft != nil && m.limits.DraftTimeout > 0 {
		until = min(until, t.drafted+m.limits.DraftTimeout)
	}
	fmt.Fprintf(&out, ", until %v", until)
	return out.String()
}
