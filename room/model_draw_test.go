package room_test

import (
	"cmp"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/reference"
)

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
	l.MaxRing, l.MaxPingPong = rapid.IntRange(3, 6).Draw(rt, "maxRing"), rapid.IntRange(1, 2).Draw(rt, "maxPingPong")
	o := room.Open{Spec: room.Spec{
		Room: "r1", Secret: "s", Limits: l, OneToOne: rapid.Bool().Draw(rt, "oneToOne"),
		OnRestart: rapid.SampledFrom([]string{"", room.RestartContinue}).Draw(rt, "onRestart"),
		Objective: rapid.SampledFrom([]string{"", "decide this"}).Draw(rt, "objective"),
	}}
	if rapid.IntRange(0, 2).Draw(rt, "explores") == 0 {
		withExploration(rt, &o)
	}
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
		p.Role = rapid.SampledFrom([]string{"", "dba"}).Draw(rt, "role")
		p.HandoffTo = rapid.SampledFrom([][]string{nil, nil, {"b", "me"}}).Draw(rt, "handoffTo")
		o.Participants = append(o.Participants, p)
	}
	if rapid.Bool().Draw(rt, "calling") {
		withCalls(rt, &o)
	}
	if rapid.IntRange(0, 2).Draw(rt, "budgets") == 0 {
		withBudgets(rt, &o)
	}
	if rapid.IntRange(0, 3).Draw(rt, "people") == 0 {
		return o // nobody
	}
	o.Participants = append(o.Participants, room.Participant{ID: "eve", Kind: policy.Human, Device: "other"}, room.Participant{ID: "me", Kind: policy.Human})
	return o
}

// drawCommand draws a command that mostly fits the state.
func drawCommand(rt *rapid.T, m *reference.Model) room.Command {
	draw := func(list ...string) string { return rapid.SampledFrom(list).Draw(rt, "x") }
	person := func(do room.Act) room.Command {
		return room.Command{Actor: draw("host", "host", "me", "me", "eve", "a", "b"), Do: do}
	}
	seat := draw("a", "a", "b", "b", "c", "me", "ghost")
	text := draw("yes", "Yes!", "no", "a, what now?", "b, what now?", "c, go on", "a text that has over thirty characters", "  ")
	turn, request, draft := 0, "none", cmp.Or(m.LastDraft, "none")
	if m.Turn != nil && draw("right", "right", "right", "wrong") == "right" {
		turn, request = m.Turn.Turn, m.Turn.Request
		if m.Turn.Draft != nil {
			draft = m.Turn.Draft.Draft
		}
	}
	rec := policy.Record{Decision: m.Decision + 1, Through: m.Seq}
	if draw("new", "new", "new", "new", "new", "new", "stale") == "stale" {
		rec.Through--
	}
	usage := room.Usage{Known: rapid.Bool().Draw(rt, "known"), Input: 7, Output: 4, CachedInput: rapid.SampledFrom([]int64{0, 0, 5, 8}).Draw(rt, "cached")}
	usage.CostKnown, usage.Cost = rapid.IntRange(0, 3).Draw(rt, "stated") == 0, 21
	decide := func(d policy.Decision) room.Command {
		return room.Command{Actor: room.ActorPolicy, Do: room.Decided{
			Decision: d, Record: rec, Grant: room.Grant{Request: "q" + strconv.Itoa(m.Tally.Turns), Tokens: 10}, Unattended: rapid.Bool().Draw(rt, "unattended"),
		}}
	}
	if c, ok := drawCall(rt, m); ok {
		return c
	}
	if c, ok := drawAgent(rt, m, seat); ok {
		return c
	}
	if c, ok := drawSession(rt, m, text); ok {
		return c
	}
	if h := drawHandOff(rt, m); h != nil && draw("now", "later") == "now" {
		return room.Command{Actor: draw(m.Turn.Participant, m.Turn.Participant, "b", "me"), Do: room.HandOff(*h)}
	}
	next := []string{"reply", "fail", "decline", "draft", "run", "resume", "seat", "say", "rare"}
	if m.Turn == nil && m.Phase == room.PhaseLive {
		next = append(next, "speak", "speak", "speak", "speak", "speak")
	} else if m.Phase == room.PhaseLive {
		next = append(next, "reply", "reply", "reply", "draft", "speak")
	}
	switch draw(next...) {
	case "speak":
		d := policy.Speak(seat, "because")
		d.Scores, rec.Seed = drawScores(rt), room.Seed(m.Room, rec.Decision)
		return decide(d)
	case "decline":
		d := policy.Decline("nothing")
		d.RetryMS = rapid.SampledFrom([]int64{0, 1, 20_000}).Draw(rt, "retry")
		return decide(d)
	case "reply":
		confidence := rapid.SampledFrom([]*float64{nil, ptr(0.9), ptr(0.5), ptr(0.4)}).Draw(rt, "confidence")
		outcome := rapid.SampledFrom([]string{endpoint.Said, endpoint.Said, endpoint.Said, endpoint.Passed, endpoint.Refused}).Draw(rt, "outcome")
		return room.Command{Actor: "a", Do: room.Replied{
			Turn: turn, Participant: "a", Request: request, Latency: time.Second,
			Reply: endpoint.Reply{Outcome: outcome, Text: text, Usage: usage, Confidence: confidence, Handoff: drawHandOff(rt, m)},
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
	l := m.Limits
	l.MaxTurns, l.MaxDuration = rapid.IntRange(1, 12).Draw(rt, "turns"), time.Duration(rapid.IntRange(1, 20).Draw(rt, "minutes"))*time.Minute
	l.MaxCalls = rapid.SampledFrom([]int{l.MaxCalls, 1, 9}).Draw(rt, "maxCalls")
	return rapid.SampledFrom([]room.Command{
		{Actor: room.ActorRoom, Do: room.Tick{}},
		{Actor: room.ActorRoom, Do: room.Tick{}},
		{Do: room.Exited{Participant: seat, Code: draw(room.FailFailed, room.FailExited)}},
		{Do: room.Exited{Participant: seat, Code: room.FailFailed}},
		{Actor: room.ActorHost, Do: room.Claim{}},
		{Actor: room.ActorHost, Do: room.Claim{Restart: true}},
		person(room.SetLimits{Limits: l}), person(room.Next{Participant: seat, Grant: room.Grant{Request: "q" + strconv.Itoa(m.Tally.Turns), Tokens: 10}}),
		decide(policy.Finish("done")), decide(policy.Decision{Action: policy.ActionError, Message: "oops"}),
		{Actor: room.ActorPolicy, Do: room.PolicyFailed{Record: rec}},
	}).Draw(rt, "rare")
}

// drawAgent draws the end of a start that is in progress, a permission, or a bid if
// the policy asks for bids. It reports false if it draws none.
func drawAgent(rt *rapid.T, m *reference.Model, seat string) (room.Command, bool) {
	for _, x := range m.Seats {
		if m.Phase == room.PhaseLive && m.Starting(x) && rapid.SampledFrom([]string{"start", "start", "wait"}).Draw(rt, "x") == "start" {
			attempt := x.Attempt - rapid.SampledFrom([]int64{0, 0, 0, 0, 1}).Draw(rt, "earlier")
			code := rapid.SampledFrom([]string{"", "", "", "", room.FailFailed, room.FailExited, room.FailDenied}).Draw(rt, "x")
			return room.Command{Do: room.Started{Participant: x.ID, Attempt: attempt, Code: code, Latency: time.Second}}, true
		}
	}
	if c, ok := drawPermission(rt, m); ok {
		return c, true
	}
	if m.Policy.Needs.Bids && rapid.IntRange(0, 2).Draw(rt, "bid") == 0 {
		decision := m.Decision + rapid.SampledFrom([]int64{1, 1, 1, 0}).Draw(rt, "decision")
		return room.Command{Do: room.BidMade{Decision: decision, Participant: seat, Bid: policy.Bid{Score: 0.5}}}, true
	}
	return room.Command{}, false
}

func ptr[T any](v T) *T { return &v }
