package room_test

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/budget"
	"github.com/folkmoot/moot/room/invariant"
)

// TestScripts runs the scripts in testdata: it decides and applies each command and
// prints the events. To rewrite the expectations, run
// go test ./room -run Scripts -rewrite.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		s := &script{checks: invariant.New()}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return s.run(t, d)
		})
	})
}

// A script drives one room.
type script struct {
	state  room.State
	log    []room.Event
	clock  time.Duration
	ids    int
	usage  room.Usage // of the next reply or failure
	ledger []room.BudgetCharge
	prompt int64              // tokens of the next prompt; 0 is 10
	follow *endpoint.Handoff  // of the next reply
	checks *invariant.Checker // nil for a test that changes the state itself
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	var out strings.Builder
	for _, line := range append([]string{d.Cmd + " " + args(d)}, strings.Split(d.Input, "\n")...) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "play") {
			continue
		}
		s.line(t, &out, line)
	}
	return out.String()
}

func args(d *datadriven.TestData) string {
	var out []string
	for _, a := range d.CmdArgs {
		out = append(out, a.String())
	}
	return strings.Join(out, " ")
}

func (s *script) line(t *testing.T, out *strings.Builder, line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			t.Fatal(err)
		}
		s.clock += d
		return
	case "effects":
		s.effects(out)
		return
	case "mail", "plan":
		map[string]func(*strings.Builder){"mail": s.mail, "plan": s.plan}[word](out)
		return
	case "window":
		s.window(out, rest)
		return
	case "input":
		s.input(t, out)
		return
	case "usage":
		s.usage = usage(t, rest)
		return
	case "prompt":
		s.prompt, _ = strconv.ParseInt(rest, 10, 64)
		return
	case "elsewhere": // what the agent of a seat uses in another room
		id, figures, _ := strings.Cut(rest, " ")
		s.ledger = append(s.ledger, elsewhere(t, id, figures, s.wall()))
		return
	case "ledger":
		for _, c := range s.ledger {
			fmt.Fprintf(out, "%s %s turn=%d estimated=%t %+v\n", c.Agent, c.ID, c.Turn, c.Estimated, c.Amounts)
		}
		return
	case "budgets":
		for _, x := range s.state.View(room.Internal).Seats {
			for _, m := range x.Budget {
				fmt.Fprintf(out, "%s %s %s: %s\n", x.ID, m.Window, m.Level, m.Text())
			}
		}
		return
	case "wish":
		s.follow = handOff(rest)
		return
	case "spent":
		v := s.state.View(room.Internal)
		fmt.Fprintln(out, "room "+spent(v.Tally.Tokens, v.Tally.CachedInput, v.Tally.Reasoning, v.Tally.Cost, v.Tally.Estimated, v.Tally.CostEstimated))
		for _, x := range v.Seats {
			fmt.Fprintln(out, "  "+x.ID+" "+spent(x.Tokens, x.CachedInput, x.Reasoning, x.Cost, x.Estimated, x.CostEstimated))
		}
		return
	case "owner":
		x, _ := s.state.Seat(rest)
		fmt.Fprintf(out, "  %s is of %q on %q\n", x.ID, x.Participant.Owner, x.Device)
		return
	case "state":
		v := s.state.View(room.Internal)
		fmt.Fprintf(out, "%s (%s) turns=%d failures=%d declines=%d tokens=%d\n", v.Phase, v.State, v.Tally.Turns, v.Tally.Failures, v.Tally.Declines, v.Tally.Tokens)
		for _, x := range v.Seats {
			fmt.Fprintf(out, "  %s %s %s\n", x.ID, x.Phase, x.Why)
		}
		return
	}
	s.do(t, out, line)
}

// do decides and applies a command. An actor other than the default comes
// first, with a colon: "me: pause".
func (s *script) do(t *testing.T, out *strings.Builder, line string) {
	actor := ""
	if who, rest, ok := strings.Cut(line, ": "); ok && !strings.Contains(who, " ") {
		actor, line = who, rest
	}
	cmd := s.command(t, line)
	if actor != "" {
		cmd.Actor = actor
	}
	s.ids++
	if cmd.ID == "" {
		cmd.ID = "c" + strconv.Itoa(s.ids)
	}
	before := clone(t, s.log)
	evs, err := s.state.Decide(cmd, room.Now{Wall: time.Unix(1_800_000_000, 0), Clock: s.clock})
	if !reflect.DeepEqual(before, s.state) {
		t.Errorf("%s: Decide changed the state", line)
	}
	if err != nil {
		fmt.Fprintf(out, "error: %v\n", err)
	}
	var broken []invariant.Broken
	if s.checks != nil {
		broken = s.checks.Decided(cmd, &s.state, evs, err)
	}
	switch cmd.Do.(type) {
	case room.Replied, room.Failed:
		s.usage, s.follow = room.Usage{}, nil
	}
	for _, e := range evs {
		if id, c, ok := s.state.ChargeOf(e); ok {
			c.Agent, c.At = id, s.wall()
			s.ledger = slices.DeleteFunc(s.ledger, func(o room.BudgetCharge) bool { return o.Open && o.ID == c.ID })
			s.ledger = append(s.ledger, c)
		}
		if why := s.state.Follows(e); why != "" && e.Seq > 1 {
			t.Errorf("%s: %s does not follow: %s", line, e.Body.Type(), why)
		}
		s.state.Apply(e)
		if s.checks != nil {
			broken = append(broken, s.checks.Applied(e, &s.state)...)
		}
		s.log = append(s.log, e)
		fmt.Fprintf(out, "%d %s %s\n", e.Seq, e.Body.Type(), describe(e.Body))
	}
	for _, b := range broken {
		t.Errorf("%s: %v", line, b)
	}
}

// clone folds the stored form of the log into a new state.
func clone(t *testing.T, log []room.Event) room.State {
	var s room.State
	for _, e := range log {
		b, err := room.MarshalEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := room.UnmarshalEvent(b)
		if err != nil {
			t.Fatal(err)
		}
		s.Apply(back)
	}
	return s
}

// command reads one line of a script.
func (s *script) command(t *testing.T, line string) room.Command {
	word, rest, _ := strings.Cut(line, " ")
	first, second, _ := strings.Cut(rest, " ")
	rec := policy.Record{Decision: s.state.Policy.Decision + 1, Through: s.state.Seq, AskedAtMS: s.clock.Milliseconds()}
	rec.Seed = room.Seed("r1", rec.Decision)
	switch word {
	case "scored": // "scored a a:0.5 b:2 because"
		d := policy.Speak(first, "")
		d.Scores, d.Reason = scores(second)
		return room.Command{Actor: room.ActorPolicy, Do: room.Decided{Decision: d, Record: rec, Grant: s.grant()}}
	case "speak":
		return room.Command{Actor: room.ActorPolicy, Do: room.Decided{Decision: policy.Speak(first, second), Record: rec, Grant: s.grant()}}
	case "stale":
		rec.Through--
		return room.Command{Actor: room.ActorPolicy, Do: room.Decided{Decision: policy.Speak(first, second), Record: rec, Grant: s.grant()}}
	case "hint":
		d := policy.Speak(first, second)
		d.Hints = policy.JSON(`{"focus":"x"}`)
		return room.Command{Actor: room.ActorPolicy, Do: room.Decided{Decision: d, Record: rec, Grant: s.grant()}}
	case "decline":
		return room.Command{Actor: room.ActorPolicy, Do: room.Decided{Decision: policy.Decline(rest), Record: rec}}
	case "decline-unattended":
		d := policy.Decline(second)
		if ms, err := strconv.ParseInt(first, 10, 64); err == nil {
			d.RetryMS = ms
		} else {
			rec.State = first
		}
		return room.Command{Actor: room.ActorPolicy, Do: room.Decided{Decision: d, Record: rec, Unattended: true}}
	case "nothing":
		return room.Command{Actor: room.ActorPolicy, Do: room.Decided{Record: rec}}
	case "finish":
		return room.Command{Actor: room.ActorPolicy, Do: room.Decided{Decision: policy.Finish(rest), Record: rec}}
	case "policy-fails":
		rec.Code, rec.Error = first, second
		return room.Command{Actor: room.ActorPolicy, Do: room.PolicyFailed{Record: rec}}
	case "said", "pass", "refuse":
		return s.reply(word, rest)
	case "late":
		return room.Command{Do: room.Replied{Turn: 1, Participant: "a", Request: "gone", Reply: endpoint.Reply{Outcome: endpoint.Said, Text: rest}}}
	case "fail":
		return room.Command{Do: room.Failed{Turn: s.turn(), Request: s.request(), Code: first, Error: second, Usage: s.usage}}
	case "posts":
		return room.Command{Actor: first, Do: room.Posted{Message: room.Message{Text: second}}}
	case "post":
		return room.Command{Actor: first, Do: room.Posted{Message: message(t, second)}}
	case "hands-off":
		return room.Command{Actor: first, Do: room.HandOff(*handOff(second))}
	case "acks", "claims", "say-to":
		return room.Command{Actor: first, Do: mailAct(word, second)}
	case "whispers":
		to, text, _ := strings.Cut(second, " ")
		return room.Command{Actor: first, Do: room.Posted{Message: room.Message{To: to, Text: text, Visibility: room.Internal}}}
	case "asks", "asks-always", "asks-ruled", "asks-refused":
		return s.ask(word, first, second)
	case "withdraw":
		return room.Command{Actor: s.speaker(), Do: room.Withdrawn{ID: s.permission(first)}}
	case "violate":
		return room.Command{Do: room.Violated{Participant: first, Code: second}}
	case "started", "start-fails":
		do := room.Started{Participant: first, Latency: time.Second}
		if x, ok := s.state.Seat(first); ok {
			do.Attempt = x.Starting
		}
		if word == "start-fails" {
			do.Code, do.Error, _ = strings.Cut(second, " ")
		}
		return room.Command{Actor: first, Do: do}
	case "exited":
		code, text, _ := strings.Cut(second, " ")
		return room.Command{Actor: first, Do: room.Exited{Participant: first, Code: code, Error: text}}
	case "live", "idle", "away":
		do := room.Present{Participant: first, Presence: room.Presence(word), Owner: second}
		if second != "" {
			do.Device = "dev-" + second
		}
		return room.Command{Actor: first, Do: do}
	case "answers", "passes":
		return s.answers(word, first, second)
	case "measure":
		return room.Command{Actor: room.ActorRoom, Do: s.measured(first)}
	case "forgot":
		return room.Command{Do: room.Forgot{Participant: first}}
	case "bid":
		score, _ := strconv.ParseFloat(second, 64)
		return room.Command{Actor: first, Do: room.BidMade{Decision: rec.Decision, Participant: first, Bid: policy.Bid{Score: score}}}
	case "tick":
		return room.Command{Actor: room.ActorRoom, Do: room.Tick{}}
	case "again":
		n, _ := strconv.Atoi(first)
		return room.Command{ID: "c" + strconv.Itoa(n), Actor: room.ActorHost, Do: room.Say{Text: "again"}}
	}
	if do := s.hostAct(t, word, rest); do != nil {
		return room.Command{Actor: room.ActorHost, Do: do}
	}
	t.Fatalf("unknown command %q", line)
	return room.Command{}
}

// hostAct returns what the host does, or nil for a word of another actor.
func (s *script) hostAct(t *testing.T, word, rest string) room.Act {
	first, second, _ := strings.Cut(rest, " ")
	switch word {
	case "open":
		return openAct(t, rest)
	case "claim":
		return room.Claim{Owner: "test", Restart: rest == "restart"}
	case "say":
		return room.Say{Text: rest}
	case "opening":
		return room.Say{Text: rest, Opening: true}
	case "say-id":
		return room.Say{MessageID: first, Text: second}
	case "say-as":
		return room.Say{As: first, Text: second}
	case "join": // with rights that it does not get
		return room.Join{Participant: room.Participant{ID: first, Name: "a", Kind: policy.Human, Owner: second, Device: "dev-" + first, Moderator: true}}
	case "join-agent":
		return room.Join{Participant: room.Participant{ID: first, Kind: policy.Local, Device: "dev"}}
	case "join-here":
		return room.Join{Participant: room.Participant{ID: first, Kind: policy.Human}}
	case "pause":
		return room.Pause{Reason: rest}
	case "resume":
		return room.Resume{}
	case "stop":
		return room.Stop{}
	case "complete":
		return room.Complete{}
	case "takeover":
		return room.TakeOver{Participant: first}
	case "release":
		return room.Release{Participant: first}
	case "approve":
		return room.Approve{Draft: s.draft(first)}
	case "edit":
		return room.Edit{Draft: s.draft(""), Text: rest}
	case "edit-and-approve":
		return room.Edit{Draft: s.draft(""), Text: rest, Approve: true}
	case "reject":
		return room.Reject{Draft: s.draft(""), Reason: rest}
	case "permit", "permit-always", "deny", "absent", "deny-always":
		return room.Permit{ID: s.permission(first), Allowed: strings.HasPrefix(word, "permit"), Always: strings.HasSuffix(word, "always"), Absent: word == "absent", Reason: second}
	case "next":
		return room.Next{Participant: first, Grant: s.grant()}
	case "mode":
		return room.SetMode{Participant: first, Mode: room.Mode(second)}
	case "standing":
		return room.SetStanding{Participant: first, Standing: room.Standing(second)}
	case "redact":
		n, _ := strconv.ParseInt(first, 10, 64)
		return room.Redact{Target: n}
	case "limits":
		return room.SetLimits{Limits: limits(t, rest)}
	case "policy":
		return room.SetPolicy{Policy: room.PolicyRef{Name: first}}
	}
	return nil
}

// grant returns the grant of the next turn.
func (s *script) grant() room.Grant {
	return room.Grant{Request: fmt.Sprintf("q%d", s.state.Tally.Turns+1), Tokens: cmp.Or(s.prompt, 10)}
}

// wall is the wall time at which budgets are measured.
func (s *script) wall() time.Time { return time.Unix(1_800_000_000, 0).Add(s.clock) }

// measured reads the ledger, as the coordinator does before it asks the policy or, with
// the tokens of a prompt, before it grants a turn.
func (s *script) measured(prompt string) (do room.Measured) {
	tokens, _ := strconv.ParseInt(prompt, 10, 64)
	for _, x := range s.state.Seats {
		var own []room.BudgetCharge
		for _, c := range s.ledger {
			if c.Agent == x.ID {
				own = append(own, c)
			}
		}
		for _, m := range x.Measure(own, s.wall(), room.Amounts{Tokens: tokens}) {
			if tokens == 0 || m.Level == budget.Used {
				do.Budgets = append(do.Budgets, m)
			}
		}
	}
	return do
}

func (s *script) turn() int {
	if s.state.Turn == nil {
		return 0
	}
	return s.state.Turn.Number
}

func (s *script) request() string {
	if s.state.Turn == nil {
		return ""
	}
	return s.state.Turn.Request
}

func (s *script) speaker() string {
	if s.state.Turn == nil {
		return "a"
	}
	return s.state.Turn.Participant
}

// answers returns the answer of a session to its request, or to the one that the
// text names: "q1@2 text" is request q1 of epoch 2.
func (s *script) answers(word, id, text string) room.Command {
	do := room.Answered{Participant: id, Request: s.request(), Epoch: s.state.Epoch, Reply: endpoint.Reply{Outcome: endpoint.Said, Text: text}}
	if of, rest, ok := strings.Cut(text, " "); ok && strings.Contains(of, "@") {
		request, epoch, _ := strings.Cut(of, "@")
		do.Request, do.Text = request, rest
		do.Epoch, _ = strconv.ParseUint(epoch, 10, 64)
	}
	if word == "passes" {
		do.Outcome, do.Text, do.Reason = endpoint.Passed, "", do.Text
	}
	return room.Command{Actor: id, Do: do}
}

// ask returns a permission request of the agent that has the turn.
func (s *script) ask(word, kind, what string) room.Command {
	do := room.Asked{Request: s.request(), Permission: room.Permission{ID: "tool", Kind: kind, Title: what, Always: word == "asks-always"}}
	switch word {
	case "asks-ruled":
		do.Answer = &endpoint.Answer{Allowed: true, Always: true, By: endpoint.RuledBy, Reason: "{kind: " + kind + "}"}
	case "asks-refused":
		do.Answer = &endpoint.Answer{Allowed: true, By: endpoint.Unasked, Reason: "no owner is present"}
	}
	return room.Command{Actor: s.speaker(), Do: do}
}

// permission returns the oldest permission request that waits if none is given.
func (s *script) permission(given string) string {
	if given != "" || s.state.Turn == nil || len(s.state.Turn.Requests) == 0 {
		return given
	}
	return s.state.Turn.Requests[0].ID
}

func (s *script) draft(given string) string {
	if given != "" || s.state.Turn == nil || s.state.Turn.Draft == nil {
		return given
	}
	return s.state.Turn.Draft.Hash
}

func (s *script) reply(word, text string) room.Command {
	do := room.Replied{Turn: s.turn(), Request: s.request(), Reply: endpoint.Reply{Outcome: endpoint.Said, Text: text, Usage: s.usage, Handoff: s.follow}, Latency: time.Second}
	switch word {
	case "pass":
		do.Outcome, do.Text, do.Reason = endpoint.Passed, "", text
	case "refuse":
		do.Outcome, do.Text, do.Reason = endpoint.Refused, "", text
	}
	if c, rest, ok := strings.Cut(text, "% "); ok && word == "said" {
		n, _ := strconv.ParseFloat(c, 64)
		n /= 100
		do.Confidence, do.Text = &n, rest
	}
	return room.Command{Do: do}
}
