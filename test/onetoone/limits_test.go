package onetoone

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/ndjson"
	"github.com/folkmoot/moot/endpoints/relay/seat"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/share"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// Verifications 7 to 11: the limits of a session and its audit log.

// TestVerification7: confirm loop-prevention blocks recursive chains. It covers
// A to B to A and rings of three, detected at the first return, and long chains.
func TestVerification7(t *testing.T) {
	for n, want := range map[int]string{1: "itself", 2: "passed this device", 3: "passed this device"} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { ringOf(t, n, n+1, want) })
	}
	t.Run("too far", func(t *testing.T) { ringOf(t, 4, 2, "too many devices") })
}

// ringOf connects n devices, each of which forwards a question to the next,
// without end unless it is stopped.
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
		o.start(share.AgentConfig{Profile: rules, Candid: true, Open: func(context.Context) (share.Agent, error) {
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
	*seat.Endpoint
	done func(error)
}

func (f forward) Speak(ctx context.Context, p endpoint.Prompt, fl endpoint.Floor) (endpoint.Reply, error) {
	p.Request = "req_of_" + p.Request
	r, err := f.Endpoint.Speak(ctx, p, fl)
	f.done(err)
	return r, err
}

// TestVerification8: confirm audit/log entries are profile-scoped and redacted.
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

// TestVerification9: kill local agent mid-run -> channel timeout/error path is surfaced and
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
	if s.OneToOneState() != "error" {
		t.Errorf("the note's state is %s, want error", s.OneToOneState())
	}
	if n := len(find[room.MessagePosted](all)); n != 2 {
		t.Errorf("%d messages, want 2: nothing is sent after the kill", n)
	}
}

// TestVerification10: oversized history is truncated/summarized deterministically and stays
// within configured bounds.
func TestVerification10(t *testing.T) {
	handed := func() (prompts []endpoint.Prompt) {
		f := newFlow(t)
		f.limits.MaxTurns = 16
		record := func(name string) agent {
			return says(func(p endpoint.Prompt) string {
				p.Text = strings.ReplaceAll(p.Text, p.Boundary, "MARK")
				for _, id := range []string{f.ann.self.ID().String(), f.bob.self.ID().String()} {
					p.Text = strings.ReplaceAll(p.Text, id, "DEVICE")
				}
				p.Boundary, p.Request, p.Host.Device, p.Room, p.Session, p.Timeout = "", "", "", "", "", 0
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
		if !reflect.DeepEqual(p, second[i]) {
			a, b := fmt.Sprintf("%+v", p), fmt.Sprintf("%+v", second[i])
			at := 0
			for at < min(len(a), len(b)) && a[at] == b[at] {
				at++
			}
			t.Errorf("prompt %d differs between two runs:\n%.300s\n%.300s", i+1, a[max(0, at-200):], b[max(0, at-200):])
		}
	}
	if last := first[15]; last.Summary == "" || !strings.Contains(last.Summary, "ann turn 1.") {
		t.Errorf("older messages are not summarised: %q", first[15].Summary)
	}
}

// TestVerification11: tool-enabled runs respect max_tool_rounds and timeout
// constraints, for the local agent and the remote one.
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

// toolAgent reports one tool round too many.
const toolAgent = `while read -r line; do
  id=${line#*'"request_id":"'}; id=${id%%'"'*}
  printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"x","tool_rounds":4}\n' "$id"
done`
