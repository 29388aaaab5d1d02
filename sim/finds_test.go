package sim

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
)

// An alteration is a mistake in the host, the disk or the state machine.
type alteration struct {
	name   string
	flaws  flaws
	expect string // invariant that some run breaks first; "" is any
}

// without returns the events without those for which drop holds, as if the state machine
// had forgotten them.
func without(events []room.Event, drop func(room.Event) bool) (kept []room.Event) {
	for _, e := range events {
		if !drop(e) {
			kept = append(kept, e)
		}
	}
	return renumbered(events, kept)
}

// renumbered gives events the places that follow from their order.
func renumbered(old, events []room.Event) []room.Event {
	for i := range events {
		e := &events[i]
		e.Seq = old[0].Seq + int64(i)
		e.ID = strconv.FormatUint(e.Epoch, 10) + "." + strconv.FormatInt(e.Seq, 10)
		if e.Command != "" {
			e.ID += "." + e.Command
		}
	}
	return events
}

func dropped[T room.Body](events []room.Event) []room.Event {
	return without(events, func(e room.Event) bool { _, ok := e.Body.(T); return ok })
}

// alterations is the table of mistakes.
var alterations = []alteration{
	{"the disk acknowledges before the sync", flaws{ackEarly: true}, ""},
	{"the disk tries to sync again after a failure", flaws{syncAgain: true}, ""},
	{"recovery loses the last event", flaws{loseLast: true}, ""},
	{"a repeated append is written twice", flaws{appendTwice: true}, ""},
	{"the gate stays open during a pause", flaws{openGate: true}, "S4"},
	{"a prompt is sent twice", flaws{sendTwice: true}, "R5"},
	{"an other device does not keep its answers", flaws{noRecord: true}, "T1"},
	{"spectators read before the disk has synced", flaws{readEarly: true}, ""},
	{"spectators are shown all events", flaws{showAll: true}, "V3"},
	{"spectators miss an event after they have reconnected", flaws{skipOne: true}, "W4"},
	{"repeated commands get a new id", flaws{newID: true}, "S8"},
	{"a pause interrupts no turn", flaws{mutate: func(cmd room.Command, events []room.Event) []room.Event {
		if _, ok := cmd.Do.(room.Pause); ok {
			return dropped[room.TurnInterrupted](events)
		}
		return events
	}}, "S5"},
	{"a restart interrupts no turn", flaws{mutate: func(cmd room.Command, events []room.Event) []room.Event {
		if _, ok := cmd.Do.(room.Claim); ok {
			return dropped[room.TurnInterrupted](events)
		}
		return events
	}}, ""},
	{"a room goes on by itself after a crash", flaws{mutate: func(cmd room.Command, events []room.Event) []room.Event {
		if _, ok := cmd.Do.(room.Claim); ok {
			return dropped[room.Paused](events)
		}
		return events
	}}, "S10"},
	{"drafts are posted without an approval", flaws{mutate: func(_ room.Command, events []room.Event) []room.Event {
		return dropped[room.TurnApproved](events)
	}}, ""},
	{"the end of a room cancels no calls", flaws{mutate: func(_ room.Command, events []room.Event) []room.Event {
		if has[room.Stopped](events) || has[room.Completed](events) {
			return dropped[room.CallChanged](events)
		}
		return events
	}}, "X9"},
	{"the clock of a limit is the wall clock", flaws{wallClock: true}, ""},
	{"recovery keeps a part of a batch", flaws{tornBatch: true}, ""},
	{"an agent gets a turn beyond its budget of an hour", flaws{overBudget: true}, "L12"},
	{"a restart drops the reservations of open turns", flaws{dropReserved: true}, "L12"},
	{"a policy that declines is asked again too late", declinesLong, "M1"},
	{"a seat that fails too often is not suspended", neverSuspends, "M1"},
}

// declinesLong and neverSuspends are mistakes that break no invariant.
var (
	declinesLong = flaws{mutate: func(_ room.Command, events []room.Event) []room.Event {
		for i := range events {
			if b, ok := events[i].Body.(room.RoundDeclined); ok {
				b.Retry += 30 * time.Second
				events[i].Body = b
			}
		}
		return events
	}}
	neverSuspends = flaws{mutate: func(_ room.Command, events []room.Event) []room.Event {
		return without(events, func(e room.Event) bool { b, ok := e.Body.(room.SeatChanged); return ok && b.Failed })
	}}
)

// TestOnlyModelFinds: there are mistakes that only the reference model finds.
func TestOnlyModelFinds(t *testing.T) {
	for _, mistake := range []flaws{declinesLong, neverSuspends} {
		mistake.noModel = true
		for seed := range uint64(100) {
			if r := Run(Config{Seed: seed, Faults: AllFaults, flaws: mistake}); len(r.Violation) > 0 {
				t.Errorf("seed %d: %s", seed, r.Violation[0])
			}
		}
	}
}

// TestSimulationFinds: the simulation finds each mistake.
func TestSimulationFinds(t *testing.T) {
	n := uint64(seeds / 10)
	if testing.Short() {
		t.Skip("mistakes need many seeds")
	}
	for _, a := range alterations {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			for seed := range n {
				r := Run(Config{Seed: seed, Faults: AllFaults, flaws: a.flaws})
				if len(r.Violation) > 0 && (a.expect == "" || r.Violation[0].Invariant == a.expect) {
					t.Logf("seed %d: %s", seed, r.Violation[0])
					return
				}
			}
			t.Errorf("%d seeds do not find it", n)
		})
	}
}

// TestShrink: a failing run gets shorter and still fails in the same way.
func TestShrink(t *testing.T) {
	flawed := flaws{openGate: true}
	for seed := range uint64(1000) {
		cfg := Config{Seed: seed, Steps: DefaultSteps, Faults: AllFaults, flaws: flawed}
		r := Run(cfg)
		if len(r.Violation) == 0 {
			continue
		}
		short := Shrink(cfg, 300)
		again := Run(short)
		if len(short.Only) == 0 || len(short.Only) >= r.Violation[0].Step || len(again.Violation) == 0 || again.Violation[0].Invariant != r.Violation[0].Invariant {
			t.Fatal(fmt.Sprint(short.Command(), again.Violation))
		}
		return
	}
	t.Fatal("no seed fails")
}
