package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// scored is rotate with scores.
func scored(in policy.Input) policy.Decision {
	d := rotate(in)
	for i, a := range in.Agents {
		d.Scores = append(d.Scores, policy.Score{Agent: a.ID, Score: float64(i)})
	}
	return d
}

func exploring(turns int) room.Spec {
	s := spec(room.Limits{MaxTurns: turns, SameText: 1 << 20, MaxInternal: 1 << 20, MaxPingPong: 1 << 20, MaxRing: 1 << 20})
	s.Explore = 0.4
	return s
}

// drawn returns a line for each turn, and reports a turn whose draw is not that of the
// state before it.
func drawn(t *testing.T, evs []room.Event) (lines []string) {
	t.Helper()
	var s room.State
	for _, e := range evs {
		if b, ok := e.Body.(room.TurnGranted); ok && b.Record != nil {
			x := b.Exploration
			lines = append(lines, fmt.Sprintf("%d %s %+v", b.Turn, b.Participant, x))
			d, again := s.Explore(policy.Decision{Action: policy.ActionSpeak, Agent: x.Choice, Scores: b.Scores}, b.Record)
			if d.Agent != b.Participant || !reflect.DeepEqual(again, x) {
				t.Errorf("turn %d of %s was %+v, drawn again %s with %+v", b.Turn, b.Participant, x, d.Agent, again)
			}
			if in, err := s.RecordedInput(b.Record, nil); err != nil || in.Seed != b.Record.Seed {
				t.Errorf("turn %d has the seed %s, its input %s: %v", b.Turn, b.Record.Seed, in.Seed, err)
			}
		}
		s.Apply(e)
	}
	return lines
}

// TestExplores runs a room twice: the same seed draws the same turns, some of them for
// others than the policy chose, and each prompt goes to the agent that was drawn.
func TestExplores(t *testing.T) {
	run := func() (lines []string, evs []room.Event) {
		synctest.Test(t, func(t *testing.T) {
			l := &memory.Log{}
			r, err := coordinator.Open(t.Context(), config(l, scored, count), exploring(30), agents("a", "b", "c"))
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			evs = events(t, l)
			lines = drawn(t, evs)
		})
		return lines, evs
	}
	first, evs := run()
	second, _ := run()
	if len(first) != 30 || !reflect.DeepEqual(first, second) {
		t.Errorf("the same seed gave\n%s\nand\n%s", strings.Join(first, "\n"), strings.Join(second, "\n"))
	}
	replaced, explored := 0, 0
	for _, e := range evs {
		switch b := e.Body.(type) {
		case room.TurnGranted:
			if b.Exploration.Replaced(b.Participant) {
				replaced++
			}
			if b.Exploration.Explored {
				explored++
			}
		case room.MessagePosted:
			if b.Turn > 0 && b.Message.Text != fmt.Sprintf("%s at turn %d", b.Message.From, b.Turn) {
				t.Errorf("turn %d of %s: %q", b.Turn, b.Message.From, b.Message.Text)
			}
		}
	}
	if replaced == 0 || explored <= replaced || explored > 25 {
		t.Errorf("of 30 turns %d were drawn, %d of them for another agent", explored, replaced)
	}
}

// TestExploresAfterCrash ends the host between a decision and its grant: the log fails to
// take it. The room is opened again, and its draws are those of its log.
func TestExploresAfterCrash(t *testing.T) {
	for left := 3; left < 8; left++ {
		t.Run(fmt.Sprint(left, " appends"), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { exploreAfterCrash(t, left) }) })
	}
}

func exploreAfterCrash(t *testing.T, left int) {
	l := &memory.Log{}
	failing := &full{Log: l, left: left}
	r, err := coordinator.Open(t.Context(), config(failing, scored, count), exploring(12), agents("a", "b", "c"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); !errors.Is(err, errFull) {
		t.Fatalf("the room ended with %v", err)
	}
	again := config(l, scored, count)
	again.ResumeAs = room.ActorHost
	if r, err = coordinator.Reopen(t.Context(), again, "r1"); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lines := drawn(t, events(t, l)); len(lines) != 12 {
		t.Errorf("the room had the turns\n%s", strings.Join(lines, "\n"))
	}
}

// TestExploresWithin draws for eligible agents only: one that has used its budget or is
// muted gets nothing.
func TestExploresWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		ps := agents("a", "b", "c")
		ps[1].MaxTokens = 1
		ps[1].Cooldown = 3
		s := exploring(20)
		s.Explore = 1
		speak := func(in policy.Input) policy.Decision {
			for _, a := range in.Agents {
				if a.Eligible {
					return policy.Speak(a.ID, "the first")
				}
			}
			return policy.Decline("none")
		}
		r, err := coordinator.Open(t.Context(), config(l, speak, func(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
			return endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprint(p.You.ID, p.Turn)}, nil
		}), s, ps)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if lines := drawn(t, events(t, l)); len(lines) != 20 {
			t.Errorf("the room had the turns\n%s", strings.Join(lines, "\n"))
		}
	})
}
