package room_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/invariant"
	"github.com/folkmoot/moot/room/reference"
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
	m := reference.New(open)
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

// compareStep gives one command to both, and compares.
func compareStep(rt *rapid.T, m *reference.Model, s *room.State, check *invariant.Checker, c room.Command, clock time.Duration) {
	what := fmt.Sprintf("%s: %T%+v at %v", c.Actor, c.Do, c.Do, clock)
	evs, err := s.Decide(c, room.Now{Wall: time.Unix(1_800_000_000, 0), Clock: clock})
	for _, b := range check.Decided(c, s, evs, err) {
		rt.Fatalf("%s: %v", what, b)
	}
	if differs := m.Compare(c, clock, evs, err); differs != "" {
		rt.Fatalf("%s: %s", what, differs)
	}
	for _, e := range evs {
		if why := s.Follows(e); why != "" {
			rt.Fatalf("%s: event %d does not follow: %s", what, e.Seq, why)
		}
		s.Apply(e)
		holds(rt, check, e, s)
	}
	if differs := m.CompareState(s); differs != "" {
		rt.Fatalf("%s: %s", what, differs)
	}
}

// holds checks the invariants after an event.
func holds(rt *rapid.T, check *invariant.Checker, e room.Event, s *room.State) {
	for _, b := range check.Applied(e, s) {
		rt.Fatalf("%+v: %v", e, b)
	}
}
