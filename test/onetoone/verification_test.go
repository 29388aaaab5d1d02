// Package onetoone shows the eleven verifications of the one-to-one
// orchestration note, each as one test with its number: one local agent, one
// agent of another owner, real sessions between their devices.
package onetoone

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/ndjson"
	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/audit"
)

// 1. Start orchestrated session from shared chat with selected local agent.
func TestVerification1(t *testing.T) {
	f := newFlow(t)
	f.limits.MaxTurns = 1
	all := f.run()
	opened := find[room.Opened](all)[0].Spec
	if !opened.OneToOne || opened.Objective == "" {
		t.Errorf("opened as %+v", opened)
	}
	if g := find[room.TurnGranted](all); len(g) != 1 || g[0].Participant != "mine" {
		t.Errorf("the local agent does not begin: %+v", g)
	}
	joined := find[room.Joined](all)
	if joined[0].Participant.Profile != "orchestrator" || joined[1].Participant.Device != f.bob.self.ID().String() {
		t.Errorf("seated are %+v", joined)
	}
}

// 2. Confirm loop: local draft -> remote send -> remote response -> local
// follow-up.
func TestVerification2(t *testing.T) {
	f := newFlow(t)
	f.limits.MaxTurns = 3
	f.mine = says(func(p endpoint.Prompt) string { return fmt.Sprintf("question %d after %q", p.Turn, newest(p)) })
	f.theirs = says(func(p endpoint.Prompt) string {
		if p.Host.Device != f.ann.self.ID().String() || p.Host.Name != "ann" || p.You.ID != "theirs" {
			t.Errorf("bob's agent is told that the room is of %+v", p.Host)
		}
		for _, s := range p.Seats {
			if s.SameOwner && s.ID != "theirs" {
				t.Errorf("bob's agent takes %s for one of its owner", s.ID)
			}
		}
		return "answer to " + newest(p)
	})
	var texts []string
	for _, m := range find[room.MessagePosted](f.run()) {
		texts = append(texts, m.Message.From+": "+m.Message.Text)
	}
	want := []string{
		`mine: question 1 after ""`,
		`theirs: answer to question 1 after ""`,
		`mine: question 3 after "answer to question 1 after \"\""`,
	}
	if strings.Join(texts, "\n") != strings.Join(want, "\n") {
		t.Errorf("said was\n%s\nwant\n%s", strings.Join(texts, "\n"), strings.Join(want, "\n"))
	}
}

// 3. Confirm manual mode requires approval before each send.
func TestVerification3(t *testing.T) {
	f := newFlow(t)
	f.mode, f.limits.MaxTurns, f.hosts = room.Manual, 4, true
	var asked atomic.Int32
	f.theirs = says(func(p endpoint.Prompt) string { asked.Add(1); return "heard " + newest(p) })
	r := f.open()
	stop := f.beside(r)
	after := int64(0)
	for n := range int32(2) {
		e := f.until(r, after, body[room.TurnDrafted])
		if asked.Load() != n || f.wire.count(kindData) > 0 && n == 0 {
			t.Fatalf("draft %d waits, and bob's agent was asked %d times", n+1, asked.Load())
		}
		f.do(r, room.Approve{Draft: e.Body.(room.TurnDrafted).Draft})
		after = e.Seq
	}
	f.until(r, 0, body[room.Stopped])
	stop()
	for _, m := range find[room.MessagePosted](f.events()) {
		if m.Auto && m.Message.From == "mine" {
			t.Errorf("%q was sent by itself", m.Message.Text)
		}
	}
	if n := len(find[room.TurnApproved](f.events())); n != 2 || asked.Load() != 2 {
		t.Errorf("%d approvals, %d questions to bob's agent", n, asked.Load())
	}
}

// 3 and semi_auto: each rule that is triggered, or cannot be applied, holds a
// draft back; nothing has left then.
func TestVerification3SemiAuto(t *testing.T) {
	sure := 0.9
	for name, c := range map[string]struct {
		review room.Review
		text   string
		sure   *float64
		want   string
	}{
		"confidence unknown": {text: "x", want: "confidence unknown"},
		"length":             {room.Review{LongerThan: 3}, "long text", &sure, "longer than 3"},
		"words":              {room.Review{Words: []string{"secret"}}, "a Secret", &sure, "contains"},
		"pattern":            {room.Review{Patterns: []string{`\d{4}`}}, "pin 1234", &sure, "matches"},
		"pattern that errs":  {room.Review{Patterns: []string{`(`}}, "fine", &sure, "cannot be applied"},
		"remote":             {room.Review{Remote: true}, "fine", &sure, "another owner"},
		"first contact":      {room.Review{FirstContact: true}, "fine", &sure, "first message"},
		"none":               {room.Review{Words: []string{"secret"}, LongerThan: 100, Patterns: []string{"^never$"}}, "fine", &sure, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFlow(t)
			f.mode, f.review, f.limits.MaxTurns, f.hosts = room.SemiAuto, c.review, 2, true
			f.mine = func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
				return endpoint.Reply{Outcome: endpoint.Said, Text: c.text, Confidence: c.sure}, nil
			}
			r := f.open()
			defer f.beside(r)()
			e := f.until(r, 0, func(e room.Event) bool { return body[room.TurnDrafted](e) || body[room.MessagePosted](e) })
			d, held := e.Body.(room.TurnDrafted)
			if held != (c.want != "") || !strings.Contains(d.Why, c.want) {
				t.Errorf("held back: %t, because %q; want %q", held, d.Why, c.want)
			}
		})
	}
}

// 4. Confirm full-auto runs until max-turn stop condition.
func TestVerification4(t *testing.T) {
	f := newFlow(t)
	all := f.run()
	if n := len(find[room.MessagePosted](all)); n != 8 { // the note's default
		t.Errorf("%d messages, want 8", n)
	}
	if s := find[room.Stopped](all); len(s) != 1 || s[0].Name != "maxTurns" {
		t.Errorf("ended with %+v", s)
	}
}

// 5. Confirm pause/resume/stop work without breaking E2EE session integrity.
func TestVerification5(t *testing.T) {
	f := newFlow(t)
	f.hosts, f.limits.MaxTurns = true, 6
	working := make(chan struct{}, 10)
	var turns, cancelled atomic.Int32
	f.theirs = func(ctx context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
		if turns.Add(1) == 1 { // paused meanwhile
			working <- struct{}{}
			<-ctx.Done()
			cancelled.Add(1)
			return endpoint.Reply{}, ctx.Err()
		}
		return endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprint("turn ", p.Turn)}, nil
	}
	r := f.open()
	stop := f.beside(r)
	<-working
	before := f.wire.count(kindOpening)
	f.do(r, room.Pause{})
	paused := f.events()[len(f.events())-1].Seq
	f.do(r, room.Resume{})
	f.until(r, paused, func(e room.Event) bool {
		b, ok := e.Body.(room.MessagePosted)
		return ok && b.Message.From == "theirs"
	})
	f.do(r, room.Stop{})
	stop()
	if n := f.wire.count(kindOpening); n != before {
		t.Errorf("%d more handshakes, want none", n-before)
	}
	if v := find[room.Violation](f.events()); len(v) != 0 {
		t.Errorf("violations: %+v", v)
	}
	if s := find[room.Stopped](f.events()); len(s) != 1 || s[0].Cause != room.StopBy || cancelled.Load() != 1 {
		t.Errorf("stopped %+v, %d cancelled", s, cancelled.Load())
	}
}

// 6. Confirm policy blocks disallowed target: on the caller, with a responder
// that would accept.
func TestVerification6(t *testing.T) {
	for name, rules := range map[string]func(f *flow) relay.Profile{
		"default":      func(*flow) relay.Profile { return relay.Profile{Name: "orchestrator"} },
		"not enabled":  func(f *flow) relay.Profile { p := allows("orchestrator", f.bob); p.Allow = false; return p },
		"other device": func(f *flow) relay.Profile { return allows("orchestrator", f.ann) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFlow(t)
			f.annRules = rules(f)
			asked := false
			f.theirs = says(func(endpoint.Prompt) string { asked = true; return "gladly" })
			greetings := 0
			all := f.run()
			f.wire.mu.Lock()
			for _, p := range f.wire.seen {
				if p[0] == kindData {
					greetings++ // bob's device says that it is there; that is all there may be
				}
			}
			f.wire.mu.Unlock()
			if asked || greetings > 1 {
				t.Errorf("bob's agent was asked: %t; %d messages passed", asked, greetings)
			}
			failed := find[room.TurnFailed](all)
			if len(failed) != 1 || failed[0].Code != room.FailDenied || !strings.Contains(failed[0].Error, "RELAY-DENIED") {
				t.Errorf("failed with %+v", failed)
			}
			if s := find[room.SeatChanged](all); len(s) != 1 || s[0].Standing != room.Suspended {
				t.Errorf("the seat: %+v", s)
			}
			if book := f.ann.audited(t); !strings.Contains(book, `"status":"refused"`) || !strings.Contains(book, f.bob.self.ID().String()) {
				t.Errorf("the host log says nothing of it:\n%s", book)
			}
		})
	}
	t.Run("responder", func(t *testing.T) { // and the other way round
		f := newFlow(t)
		f.bobRules = relay.Profile{Name: "reviewer"}
		asked := false
		f.theirs = says(func(endpoint.Prompt) string { asked = true; return "gladly" })
		all := f.run()
		if failed := find[room.TurnFailed](all); asked || len(failed) != 1 || failed[0].Code != room.FailDenied {
			t.Errorf("asked %t, failed %+v", asked, failed)
		}
		if book := f.bob.audited(t); !strings.Contains(book, `"status":"refused"`) {
			t.Errorf("bob's host log says nothing of it:\n%s", book)
		}
	})
}

func (o *owner) audited(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(o.dir, audit.FileName))
	must(t, err)
	return string(b)
}

// 7. Confirm loop-prevention blocks recursive chains: A to B to A, and rings
// of three, found out at the first return; and chains that are too long.
func TestVerification7(t *testing.T) {
	for n, want := range map[int]string{1: "itself", 2: "passed this device", 3: "passed this device"} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { ringOf(t, n, n+1, want) })
	}
	t.Run("too far", func(t *testing.T) { ringOf(t, 4, 2, "too many devices") })
}

// ringOf lets n devices pass a question on to the next of them, for ever if
// they were let.
func ringOf(t *testing.T, n, hops int, want string) {
	w := &wire{links: map[[32]byte]*session.Link{}}
	owners := make([]*owner, n)
	for i := range owners {
		owners[i] = newOwner(t, w, fmt.Sprint("owner", i))
	}
	for i, a := range owners {
		for _, b := range owners[i+1:] {
			befriend(a, b)
		}
	}
	rules := allows("forwarder", owners...)
	rules.MaxHops = hops
	var asked atomic.Int32
	last := make(chan error, 10)
	for i, o := range owners {
		next := owners[(i+1)%n]
		o.start(relay.Served{Profile: rules, Candid: true, Open: func(context.Context) (relay.Agent, error) {
			seat := o.seat(next, "forwarder", rules)
			return forward{seat, func(err error) { asked.Add(1); last <- err }}, nil
		}})
	}
	seat := owners[0].seat(owners[1%n], "forwarder", rules)
	defer seat.Close()
	_, err := seat.Speak(t.Context(), endpoint.Prompt{
		Kind: endpoint.Turn, Request: "req_1", Room: "r1", Epoch: 1, Turn: 1, You: endpoint.Seat{ID: "x"}, Timeout: 20 * time.Second,
	}, nil)
	close(last)
	found := err
	for e := range last { // the deepest refusal comes first
		found = e
		break
	}
	if found == nil || !strings.Contains(found.Error(), want) {
		t.Errorf("the chain ended with %v, want %q", found, want)
	}
	if int(asked.Load()) > n {
		t.Errorf("%d agents were asked in a ring of %d", asked.Load(), n)
	}
}

type forward struct {
	*relay.Endpoint
	done func(error)
}

func (f forward) Speak(ctx context.Context, p endpoint.Prompt, fl endpoint.Floor) (endpoint.Reply, error) {
	p.Request = "req_of_" + p.Request
	r, err := f.Endpoint.Speak(ctx, p, fl)
	f.done(err)
	return r, err
}

// 8. Confirm audit/log entries are profile-scoped and redacted.
func TestVerification8(t *testing.T) {
	const secret = "sk-live-canary-4711"
	f := newFlow(t)
	f.limits.MaxTurns = 2
	f.mine = says(func(endpoint.Prompt) string { return "my key is " + secret })
	f.theirs = says(func(p endpoint.Prompt) string { return "I got " + newest(p) })
	if all := f.run(); len(find[room.MessagePosted](all)) != 2 {
		t.Fatalf("events %+v", all)
	}
	ann, bob := f.ann.audited(t), f.bob.audited(t)
	for name, c := range map[string]struct {
		book string
		want []string
	}{
		"ann": {ann, []string{`"profile":"orchestrator"`, `"device":"` + f.bob.self.ID().String(), `"turn":2`, `"mode":"full_auto"`, `"status":"granted"`, `"status":"posted"`}},
		"bob": {bob, []string{`"profile":"reviewer"`, `"device":"` + f.ann.self.ID().String(), `"requester":"ann"`, `"room":"r1"`, `"turn":2`, `"mode":"full_auto"`, `"status":"granted"`, `"status":"posted"`}},
	} {
		for _, want := range c.want {
			if !strings.Contains(c.book, want) {
				t.Errorf("%s's host log lacks %s:\n%s", name, want, c.book)
			}
		}
		if strings.Contains(c.book, secret) || strings.Contains(c.book, "Review this API") {
			t.Errorf("%s's host log holds what was said:\n%s", name, c.book)
		}
	}
}

// 9. Kill local agent mid-run -> channel timeout/error path is surfaced and
// loop halts safely.
func TestVerification9(t *testing.T) {
	f := newFlow(t)
	f.local = func() coordinator.Endpoint {
		return ndjson.New(ndjson.Config{Command: []string{"sh", "-c", `read -r line
id=${line#*'"request_id":"'}; id=${id%%'"'*}
printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"once"}\n' "$id"
read -r line
kill -9 $$`}})
	}
	all := f.run()
	failed := find[room.TurnFailed](all)
	if len(failed) != 1 || failed[0].Code != room.FailExited || !strings.Contains(failed[0].Error, "killed") {
		t.Errorf("failed with %+v", failed)
	}
	if e := find[room.Errored](all); len(e) != 1 || e[0].Code != "ROOM-ONE-TO-ONE" {
		t.Errorf("the room ended with %+v, want an error that a person looks at", e)
	}
	var s room.State
	for _, e := range all {
		s.Apply(e)
	}
	if s.Note() != "error" {
		t.Errorf("the note's state is %s, want error", s.Note())
	}
	if n := len(find[room.MessagePosted](all)); n != 2 {
		t.Errorf("%d messages, want 2: nothing is sent after the kill", n)
	}
}

// 10. Oversized history is truncated/summarized deterministically and stays
// within configured bounds.
func TestVerification10(t *testing.T) {
	handed := func() (prompts []endpoint.Prompt) {
		f := newFlow(t)
		f.limits.MaxTurns = 16
		record := func(name string) agent {
			return says(func(p endpoint.Prompt) string {
				p.Boundary, p.Request, p.Host.Device, p.Room, p.Session = "", "", "", "", ""
				p.Trace = endpoint.Trace{}
				for i := range p.Seats {
					p.Seats[i].Device = ""
				}
				prompts = append(prompts, p)
				return fmt.Sprintf("%s turn %d. %s", name, p.Turn, strings.Repeat("x", 6_000))
			})
		}
		f.mine, f.theirs = record("ann"), record("bob")
		f.run()
		return prompts
	}
	first, second := handed(), handed()
	if len(first) != 16 || len(second) != 16 {
		t.Fatalf("%d and %d prompts, want 16", len(first), len(second))
	}
	for i, p := range first {
		if len(p.History) > 6 {
			t.Errorf("prompt %d has %d messages of history", i+1, len(p.History))
		}
		chars, before := 0, p.History // its own newest message came after what it was handed last
		if n := len(before); n > 0 && before[n-1].Own {
			before = before[:n-1]
		}
		for _, l := range before {
			chars += len([]rune(l.Text))
		}
		if chars > 24_000 {
			t.Errorf("prompt %d has %d characters of history", i+1, chars)
		}
		if i > 0 && !strings.HasPrefix(newest(p), []string{"bob", "ann"}[i%2]) {
			t.Errorf("prompt %d: the newest message is not whole: %.40q", i+1, newest(p))
		}
		if endpoint.Digest(p) != endpoint.Digest(second[i]) {
			t.Errorf("prompt %d differs between two runs:\n%.1500s\n%.1500s", i+1, endpoint.Render(p), endpoint.Render(second[i]))
		}
	}
	if last := first[15]; last.Summary == "" || !strings.Contains(last.Summary, "ann turn 1.") {
		t.Errorf("older messages are not summarised: %q", first[15].Summary)
	}
}

// 11. Tool-enabled runs respect max_tool_rounds and timeout constraints, of
// the local agent as of the remote one.
func TestVerification11(t *testing.T) {
	for name, remote := range map[string]bool{"local": false, "remote": true} {
		t.Run(name, func(t *testing.T) {
			f := newFlow(t)
			f.tools, f.limits.MaxTurns = true, 3
			rounds := func(p endpoint.Prompt, n int) endpoint.Reply {
				if !p.AllowToolUse || p.MaxToolRounds != 3 {
					t.Errorf("the agent is told %t and %d", p.AllowToolUse, p.MaxToolRounds)
				}
				return endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprint(p.Turn), ToolRounds: n}
			}
			over := func(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
				return rounds(p, 4), nil
			}
			f.theirs = func(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
				if p.Timeout > 300*time.Second {
					t.Errorf("a remote turn may take %v", p.Timeout)
				}
				return rounds(p, 3), nil
			}
			if remote {
				f.theirs = over
			} else {
				f.local = func() coordinator.Endpoint {
					return ndjson.New(ndjson.Config{Command: []string{"sh", "-c", toolAgent}})
				}
			}
			all := f.run()
			if g := find[room.TurnGranted](all); g[0].Timeout != 120*time.Second {
				t.Errorf("a local turn with tools may take %v", g[0].Timeout)
			}
			failed := find[room.TurnFailed](all)
			if len(failed) == 0 || failed[0].Code != room.FailProtocol || !strings.Contains(failed[0].Error, "4 tool rounds, and the limit is 3") {
				t.Errorf("failed with %+v", failed)
			}
		})
	}
}

// toolAgent claims one tool round too many.
const toolAgent = `while read -r line; do
  id=${line#*'"request_id":"'}; id=${id%%'"'*}
  printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"x","tool_rounds":4}\n' "$id"
done`
