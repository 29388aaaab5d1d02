package invariant_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/invariant"
)

// An entry is one thing that a checker is told.
type entry struct {
	what what

	cmd    room.Command // decided
	events []room.Event
	err    error

	event room.Event        // applied, shown
	fault func(*room.State) // changes the state before the checker gets it; nil for none

	seq     int64                           // stored, acknowledged, watches
	request string                          // sent, executed
	who     string                          // sent, watches, shown
	level   room.Visibility                 // watches
	clock   time.Duration                   // settled
	log     func([]room.Event) []room.Event // recovered, ended: changes the log; nil for none
}

type what string

const (
	decided      what = "decided"
	applied      what = "applied"
	stored       what = "stored"
	failed       what = "failed"
	acknowledged what = "acknowledged"
	recovered    what = "recovered"
	sent         what = "sent"
	executed     what = "executed"
	watches      what = "watches"
	shown        what = "shown"
	settled      what = "settled"
	finished     what = "ended"
)

// A history is what a checker is told of a room.
type history []entry

// play tells a checker the history and returns what is broken.
func (h history) play() (broken []invariant.Broken) {
	var s room.State
	var log []room.Event
	c := invariant.New()
	for i := range h {
		e := &h[i]
		fault := func() {
			if e.fault != nil {
				e.fault(&s)
			}
		}
		switch e.what {
		case decided:
			fault()
			broken = append(broken, c.Decided(e.cmd, &s, e.events, e.err)...)
		case applied:
			s.Apply(e.event)
			log = append(log, e.event)
			fault()
			broken = append(broken, c.Applied(e.event, &s)...)
		case settled:
			fault()
			broken = append(broken, c.Settled(e.clock, &s)...)
		case finished:
			fault()
			broken = append(broken, c.Ended(&s, e.changed(log))...)
		case recovered:
			broken = append(broken, c.Recovered(e.changed(log))...)
		case failed:
			c.Failed()
		case watches:
			c.Watches(e.who, e.level, e.seq)
		default:
			broken = append(broken, e.tell(c)...)
		}
	}
	return broken
}

// tell tells c of what happened outside the room.
func (e *entry) tell(c *invariant.Checker) []invariant.Broken {
	switch e.what {
	case stored:
		return c.Stored(e.seq)
	case acknowledged:
		return c.Acknowledged(e.seq)
	case sent:
		return c.Sent(e.request, e.who)
	case executed:
		return c.Executed(e.request)
	case shown:
		return c.Shown(e.who, e.event)
	}
	return nil
}

func (e *entry) changed(log []room.Event) []room.Event {
	if e.log == nil {
		return log
	}
	return e.log(slices.Clone(log))
}

// A mutant is a history that is altered in one respect.
type mutant struct {
	t *testing.T
	history
}

// find returns the index of the n-th entry of a kind.
func (m *mutant) find(kind what, n int) int {
	for i := range m.history {
		if m.history[i].what == kind {
			if n--; n < 0 {
				return i
			}
		}
	}
	m.t.Fatalf("the history has too few entries that are %s", kind)
	return 0
}

// event returns the index of the n-th applied event with a body of that type for which
// ok is true.
func event[T room.Body](m *mutant, n int, ok ...func(T) bool) int {
	for i := range m.history {
		b, is := m.history[i].event.Body.(T)
		if m.history[i].what != applied || !is || len(ok) > 0 && !ok[0](b) {
			continue
		}
		if n--; n < 0 {
			return i
		}
	}
	var none T
	m.t.Fatalf("the history has too few events %s", none.Type())
	return 0
}

// edit changes the body of the applied event at i.
func edit[T room.Body](m *mutant, i int, change func(*T)) {
	b := m.history[i].event.Body.(T)
	change(&b)
	m.history[i].event.Body = b
}

// fault adds a fault of the state after the entry at i.
func (m *mutant) fault(i int, change func(*room.State)) { m.history[i].fault = change }

// insert adds an event after the entry at i, and renumbers the events after it.
func (m *mutant) insert(i int, actor string, b room.Body) {
	e := m.history[i].event
	e.Seq, e.Actor, e.Body, e.Command = e.Seq+1, actor, b, "x"+strconv.Itoa(i)
	m.history = slices.Insert(m.history, i+1, entry{what: stored, seq: e.Seq}, entry{what: applied, event: name(e)})
	m.shift(i+3, e.Seq, 1)
}

// again adds the event at i once more.
func (m *mutant) again(i int) { m.insert(i, m.history[i].event.Actor, m.history[i].event.Body) }

// drop removes the event at i, and renumbers the events after it.
func (m *mutant) drop(i int) {
	seq := m.history[i].event.Seq
	m.history = slices.Delete(m.history, i, i+1)
	m.shift(i, seq, -1)
}

// shift adds d to the numbers of events and entries from i on that are seq or more.
func (m *mutant) shift(i int, seq, d int64) {
	for ; i < len(m.history); i++ {
		e := &m.history[i]
		if e.event.Seq >= seq {
			e.event.Seq += d
			e.event = name(e.event)
		}
		if e.seq >= seq {
			e.seq += d
		}
	}
}

// name gives an event the id that follows from its epoch, number and command.
func name(e room.Event) room.Event {
	e.ID = strconv.FormatUint(e.Epoch, 10) + "." + strconv.FormatInt(e.Seq, 10)
	if e.Command != "" {
		e.ID += "." + e.Command
	}
	return e
}

// next returns how far after the entry at i the next one of a kind is.
func (m *mutant) next(i int, kind what) int {
	for n := range m.history[i:] {
		if m.history[i+n].what == kind {
			return n
		}
	}
	m.t.Fatalf("nothing is %s afterwards", kind)
	return 0
}

// nextShown returns how far after the entry at i an event is shown at a level.
func (m *mutant) nextShown(i int, level room.Visibility) int {
	for n, e := range m.history[i:] {
		if e.what == shown && e.who == string(level) {
			return n
		}
	}
	m.t.Fatalf("nothing is shown at the level %s afterwards", level)
	return 0
}

// before returns the last entry of a kind before the one at i.
func (m *mutant) before(i int, kind what) int {
	for ; i > 0 && m.history[i].what != kind; i-- {
	}
	return i
}

// findGrant returns the first decision of the policy that gave a turn.
func (m *mutant) findGrant() int {
	for i, e := range m.history {
		if _, ok := e.cmd.Do.(room.Decided); ok && e.what == decided {
			return i
		}
	}
	m.t.Fatal("the policy has decided nothing")
	return 0
}

// remove removes the entry at i.
func (m *mutant) remove(i int) { m.history = slices.Delete(m.history, i, i+1) }

// twice repeats the entry at i.
func (m *mutant) twice(i int) { m.history = slices.Insert(m.history, i, m.history[i]) }

// cut ends the history after the entry at i.
func (m *mutant) cut(i int) { m.history = m.history[:i+1] }
