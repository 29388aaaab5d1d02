package invariant_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/invariant"
)

// TestInterleavings gives six commands of people, the answer of the agent and the end of
// the host to rooms in which one turn is open, in every order, and checks the invariants
// after each. The beginnings of these orders are all orders of fewer commands.
func TestInterleavings(t *testing.T) {
	for _, c := range []struct {
		name  string
		mode  room.Mode
		human []string
	}{
		{"a seat in manual mode", room.Manual, []string{"pause", "resume", "approve", "edit", "take over", "stop"}},
		{"a seat in full_auto mode", room.FullAuto, []string{"pause", "resume", "take over", "release", "write for it", "stop"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			orders, ends := 0, map[string]int{}
			permute(append([]string{"answer", "crash"}, c.human...), func(order []string) {
				ends[interleave(t, c.mode, order)]++
				orders++
			})
			if orders != 40_320 || len(ends) < 5 {
				t.Errorf("in %d orders the turn ends in these ways: %v", orders, ends)
			}
		})
	}
}

// permute visits every order of a list (Heap's algorithm).
func permute(list []string, visit func([]string)) {
	var rec func(n int)
	rec = func(n int) {
		if n == 1 {
			visit(list)
			return
		}
		for i := range n {
			rec(n - 1)
			j := 0
			if n%2 == 0 {
				j = i
			}
			list[j], list[n-1] = list[n-1], list[j]
		}
	}
	rec(len(list))
}

// A contest is a room in which one turn is open, and the checker of its invariants.
type contest struct {
	t     *testing.T
	s     room.State
	check *invariant.Checker
	clock time.Duration
	order []string
	n     int
	sent  string
	end   string // of the turn
	broke bool
}

// interleave plays an order and says how the turn has ended.
func interleave(t *testing.T, mode room.Mode, order []string) string {
	c := &contest{t: t, check: invariant.New(), order: order}
	c.do(room.ActorHost, room.Open{Spec: room.Spec{Room: "r", Policy: room.PolicyRef{Name: "x"}}, Participants: []room.Participant{
		{ID: "a", Kind: policy.Local, Mode: mode}, {ID: "me", Kind: policy.Human},
	}})
	c.do(room.ActorHost, room.Claim{Owner: "host"})
	c.do(room.ActorPolicy, room.Decided{Decision: policy.Speak("a", "first"), Record: policy.Record{Decision: 1, Through: c.s.Seq}, Grant: room.Grant{Request: "q", Tokens: 10}})
	for _, what := range order {
		c.play(what)
	}
	return c.end
}

// play gives one command. Many are refused, as in other orders they are not.
func (c *contest) play(what string) {
	draft := ""
	if c.s.Turn != nil && c.s.Turn.Draft != nil {
		draft = c.s.Turn.Draft.Hash
	}
	switch what {
	case "answer":
		c.do("a", room.Replied{Turn: 1, Participant: "a", Request: "q", Reply: endpoint.Reply{Outcome: endpoint.Said, Text: "yes"}})
	case "crash":
		c.do(room.ActorHost, room.Claim{Owner: "host", Restart: c.s.Phase == room.PhaseLive})
	case "pause":
		c.do("me", room.Pause{})
	case "resume":
		c.do("me", room.Resume{})
	case "approve":
		c.do("me", room.Approve{Draft: draft})
	case "edit":
		c.do("me", room.Edit{Draft: draft, Text: "no"})
	case "take over":
		c.do("me", room.TakeOver{Participant: "a"})
	case "release":
		c.do("me", room.Release{Participant: "a"})
	case "write for it":
		c.do("me", room.Say{Text: "perhaps", As: "a"})
	case "stop":
		c.do("me", room.Stop{})
	}
}

func (c *contest) do(actor string, act room.Act) {
	c.n++
	c.clock += time.Second
	cmd := room.Command{ID: fmt.Sprint("c", c.n), Actor: actor, Do: act}
	events, err := c.s.Decide(cmd, room.Now{Wall: time.Unix(1_800_000_000, 0), Clock: c.clock})
	c.report(c.check.Decided(cmd, &c.s, events, err))
	for _, e := range events {
		c.report(c.check.Stored(e.Seq))
		c.s.Apply(e)
		c.report(c.check.Applied(e, &c.s))
		switch b := e.Body.(type) {
		case room.TurnInterrupted:
			c.end = b.Reason
		case room.MessagePosted:
			if b.Turn != 0 {
				c.end = "posted by " + e.Actor
			}
		}
	}
	for _, f := range c.s.Effects() {
		if f, ok := f.(room.Speak); ok && c.sent != f.Key() {
			c.sent = f.Key()
			c.report(c.check.Sent(f.Request, f.Participant))
		}
	}
	c.report(c.check.Settled(c.clock, &c.s))
}

// report fails the test at the first invariant that is broken.
func (c *contest) report(broken []invariant.Broken) {
	if len(broken) > 0 && !c.broke {
		c.broke = true
		c.t.Errorf("%s: %v", strings.Join(c.order, ", "), broken)
	}
}
