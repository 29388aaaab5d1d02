package invariant

import (
	"fmt"
	"time"

	"github.com/folkmoot/moot/room"
)

// Broken is an invariant that does not hold.
type Broken struct {
	ID     string // of the [Invariant]
	Seq    int64  // newest event when it was noticed
	Detail string
}

// String returns the finding on one line.
func (b Broken) String() string { return fmt.Sprintf("%s at event %d: %s", b.ID, b.Seq, b.Detail) }

// An Invariant is a rule that holds after every step of a room.
type Invariant struct {
	ID       string // such as "S1"; it never changes
	Sentence string

	event func(*Checker, step) string // checked after each event; nil for one that another method checks
}

// A step is an event and the state after it.
type step struct {
	room.Event
	s *room.State
}

// A Checker checks the invariants of one room. It is not safe for concurrent use. Use
// [New].
type Checker struct {
	seq   int64
	clock time.Duration
	epoch uint64
	was   summary // of the state before the present event

	talk
	people
	limited
	mail
	called
	world
	watched

	broken []Broken // of the present call
}

// New returns a Checker of a room without events.
func New() *Checker {
	c := &Checker{}
	c.talk.init()
	c.people.init()
	c.limited.init()
	c.mail.init()
	c.called.init()
	c.world.init()
	c.watched.init()
	return c
}

// Applied checks e, the next event of the log, and s, the state after it.
func (c *Checker) Applied(e room.Event, s *room.State) []Broken {
	st := step{e, s}
	for i := range table {
		if check := table[i].event; check != nil {
			c.report(table[i].ID, e.Seq, check(c, st))
		}
	}
	c.seq, c.clock, c.epoch = e.Seq, max(c.clock, e.Clock), max(c.epoch, e.Epoch)
	c.learnPeople(st)
	c.learnLimits(st)
	c.learnMail(st)
	c.learnCalls(st)
	c.learnWorld(st)
	c.learnWatched(st)
	c.learnTurn(st) // closes the turn, which the others ask for
	c.was.take(s)
	return c.done()
}

// Refolded notes that the caller has folded the log again, because a redaction has removed
// texts, and goes on with s. The room does not compare later texts with those.
func (c *Checker) Refolded(s *room.State) {
	c.was.take(s)
	c.newest = nil
}

// report notes that the invariant with id is broken, if why says so.
func (c *Checker) report(id string, seq int64, why string) {
	if why != "" {
		c.broken = append(c.broken, Broken{id, seq, why})
	}
}

// done returns what was reported since the last call.
func (c *Checker) done() []Broken {
	b := c.broken
	c.broken = nil
	return b
}

// All returns the invariants in the order of their topics.
func All() []Invariant { return append([]Invariant(nil), table...) }
