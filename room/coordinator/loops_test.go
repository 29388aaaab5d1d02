package coordinator_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/inbox"
	"github.com/folkmoot/moot/policies/mention"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/kinds"
	"github.com/folkmoot/moot/room/log/memory"
)

// maxLoop is the number of turns that a loop takes at most, at the default limits.
const maxLoop = 24

// next returns the participant after id in the list.
func next(ids []string, id string) string { return ids[(slices.Index(ids, id)+1)%len(ids)] }

// runToEnd runs a room at the default limits until it ends by itself.
func runToEnd(t *testing.T, objective string, decide policyFunc, speak speakFunc, seats []room.Participant) room.View {
	t.Helper()
	s := spec(room.Limits{})
	s.Objective = objective
	r, err := coordinator.Open(t.Context(), config(&memory.Log{}, decide, speak), s, seats)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.View()
}

// byMention decides as the policy mention does.
func byMention() policyFunc {
	p := mention.New(nil)
	return func(in policy.Input) policy.Decision { return p.Decide(&in) }
}

// byInbox decides as the policy inbox does. The first turn is that of the first agent.
func byInbox() policyFunc {
	p := inbox.New(nil)
	return func(in policy.Input) policy.Decision {
		if in.Turn == 1 {
			return policy.Speak(in.Agents[0].ID, "it begins")
		}
		return p.Decide(&in)
	}
}

// TestLoops runs agents that would wake each other without an end, at the default
// limits. The guard that stops the room is named, and no loop takes more than maxLoop
// turns.
func TestLoops(t *testing.T) {
	ids := []string{"iris", "dba", "otto", "mia"}
	mentions := func(format string) func(n int) speakFunc {
		return func(n int) speakFunc {
			return func(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
				return endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprintf(format, next(ids[:n], p.You.ID), p.Turn)}, nil
			}
		}
	}
	posts := func(n int) speakFunc { // what it says to everybody addresses nobody
		return func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			_, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalMessage, To: next(ids[:n], p.You.ID), Detail: fmt.Sprint("step ", p.Turn)})
			return endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprint("it is done ", p.Turn)}, err
		}
	}
	for _, c := range []struct {
		name   string
		decide func() policyFunc
		speak  func(n int) speakFunc
		guard  string
	}{
		{"addressed", byMention, mentions("@%s go on with %d"), "ring"},
		{"named", byMention, mentions("I think that %s knows more about %d than I do"), "ring"},
		{"to its inbox", byInbox, posts, "ring"},
	} {
		for n := 2; n <= len(ids); n++ {
			t.Run(fmt.Sprint(c.name, " ", n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					v := runToEnd(t, "@iris begin", c.decide(), c.speak(n), agents(ids[:n]...))
					if v.Phase != room.PhaseStopped || v.Ending.Cause != room.CauseLoop || v.Ending.Name != c.guard || v.Tally.Turns > maxLoop {
						t.Errorf("ended as %+v after %d turns, want loop %s within %d", v.Ending, v.Tally.Turns, c.guard, maxLoop)
					}
					if named := strings.Count(v.Ending.Reason, " -> "); c.guard == "ring" && named != n {
						t.Errorf("%q names %d agents, want %d", v.Ending.Reason, named, n)
					}
					t.Logf("%s after %d turns", v.Ending.Reason, v.Tally.Turns)
				})
			})
		}
	}
}

// TestMentionsThatWakeNobody checks, in the turns that follow, what wakes no agent
// under the policy mention, and that a mention of everybody wakes no agent twice.
func TestMentionsThatWakeNobody(t *testing.T) {
	for _, c := range []struct {
		name, text string
		woken      []string // after the turn of iris
	}{
		{"an agent", "@dba look", []string{"dba"}},
		{"a code span", "run `@dba` now", nil},
		{"a code block", "it is\n```\n@dba look\n```", nil},
		{"a quoted line", "> @dba look\nI have done it", nil},
		{"quotation marks", "you wrote \"@dba look\" and I did", nil},
		{"a link", "see https://example.org/@dba and [dba](x)", nil},
		{"an e-mail address", "write to ann@dba now", nil},
		{"everybody, by a word", "@everybody and @all, look", nil},
		{"everybody, by their ids", "@dba @otto @mia, look", []string{"dba"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var spoke []string
				v := runToEnd(t, "@iris begin", byMention(), func(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
					spoke = append(spoke, p.You.ID)
					if p.You.ID == "iris" {
						return endpoint.Reply{Outcome: endpoint.Said, Text: c.text}, nil
					}
					return endpoint.Reply{Outcome: endpoint.Said, Text: "it is done"}, nil
				}, agents("iris", "dba", "otto", "mia"))
				if want := append([]string{"iris"}, c.woken...); !slices.Equal(spoke, want) || v.Ending.Cause != room.CauseSettled {
					t.Errorf("the turns went to %q, want %q; ended as %+v", spoke, want, v.Ending)
				}
			})
		})
	}
}

// actor makes an agent that gets the room in which it is, to act there.
type actor func(ctx context.Context, r *coordinator.Room, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error)

// runActors is like runToEnd for agents that act in their room.
func runActors(t *testing.T, decide policyFunc, speak actor, seats []room.Participant) room.View {
	t.Helper()
	var r *coordinator.Room
	s := spec(room.Limits{})
	s.Objective = "@" + seats[0].ID + " begin"
	say := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		return speak(ctx, r, p, f)
	}
	r, err := coordinator.Open(t.Context(), config(&memory.Log{}, decide, say), s, seats)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.View()
}

// TestLoopsOfMessages runs loops of hand-offs, internal messages, clarifications and
// calls at the default limits.
func TestLoopsOfMessages(t *testing.T) {
	handsOff := func(n int) actor {
		ids := []string{"iris", "dba", "otto", "mia"}[:n]
		return func(_ context.Context, _ *coordinator.Room, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
			return endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprint("step ", p.Turn), Handoff: &endpoint.Handoff{To: next(ids, p.You.ID), Reason: "yours"}}, nil
		}
	}
	posts := func(ids []string, kindOf func(id string) string, visibility room.Visibility) actor {
		return func(ctx context.Context, r *coordinator.Room, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
			_, err := r.Do(ctx, room.Command{Actor: p.You.ID, Do: room.Posted{Message: room.Message{
				To: next(ids, p.You.ID), Kind: kindOf(p.You.ID), Visibility: visibility, Text: fmt.Sprint("step ", p.Turn),
			}}})
			return endpoint.Reply{Outcome: endpoint.Passed}, err
		}
	}
	talk := func(string) string { return kinds.Utterance }
	asks := func(id string) string {
		if id == "boss" {
			return kinds.ClarificationReply
		}
		return kinds.ClarificationRequest
	}
	protocol := agents("dev", "boss")
	protocol[0].Role, protocol[1].Role = "worker", "manager"
	calling := team()
	// The result of the call wakes its caller, which calls again.
	calls := func(ctx context.Context, _ *coordinator.Room, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		if p.You.ID == "coder" {
			return endpoint.Reply{Outcome: endpoint.Said, Text: "look again"}, nil
		}
		_, err := raiseCall(ctx, f, fmt.Sprintf(`{"agent_name":"coder","task":"look %d","wait_ms":0}`, p.Turn))
		return endpoint.Reply{Outcome: endpoint.Passed}, err
	}
	for _, c := range []struct {
		name   string
		decide policyFunc
		speak  actor
		seats  []room.Participant
		guard  string
	}{
		{"two hand off", byMention(), handsOff(2), agents("iris", "dba"), "ping-pong"},
		{"three hand off", byMention(), handsOff(3), agents("iris", "dba", "otto"), "ring"},
		{"four hand off", byMention(), handsOff(4), agents("iris", "dba", "otto", "mia"), "ring"},
		{"two inside", byInbox(), posts([]string{"iris", "dba"}, talk, room.Internal), agents("iris", "dba"), "internal"},
		{"three inside", byInbox(), posts([]string{"iris", "dba", "otto"}, talk, room.Internal), agents("iris", "dba", "otto"), "internal"},
		{"clarifications", byInbox(), posts([]string{"dev", "boss"}, asks, ""), protocol, "ping-pong"},
		{"through a child room", byInbox(), calls, calling, "ring"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := runActors(t, c.decide, c.speak, c.seats)
				if v.Ending.Cause != room.CauseLoop || v.Ending.Name != c.guard || v.Tally.Turns > maxLoop {
					t.Errorf("ended as %+v after %d turns, want loop %s within %d", v.Ending, v.Tally.Turns, c.guard, maxLoop)
				}
				t.Logf("%s after %d turns", v.Ending.Reason, v.Tally.Turns)
			})
		})
	}
}

// TestAnswerWakesNobody checks that an answer to a message of an agent does not mention
// that agent.
func TestAnswerWakesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var spoke []string
		runActors(t, byMention(), func(ctx context.Context, r *coordinator.Room, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
			spoke = append(spoke, p.You.ID)
			if p.You.ID == "dba" {
				_, err := r.Do(ctx, room.Command{Actor: "dba", Do: room.Posted{Message: room.Message{Parent: "m1", Correlation: "m1", Text: "it is a lock"}}})
				return endpoint.Reply{Outcome: endpoint.Passed}, err
			}
			_, err := r.Do(ctx, room.Command{Actor: "iris", Do: room.Posted{Message: room.Message{ID: "m1", Text: "@dba why is it slow?"}}})
			return endpoint.Reply{Outcome: endpoint.Passed}, err
		}, agents("iris", "dba"))
		if want := []string{"iris", "dba"}; !slices.Equal(spoke, want) {
			t.Errorf("the turns went to %q, want %q", spoke, want)
		}
	})
}
