package replay

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/names"
)

// A chat is a talk made ready: what it holds is read again for every walk, so
// that a long one need not fit in memory.
type chat struct {
	id, objective string
	people        []Person
	merged        int // turns after merging
	turns         iter.Seq2[Turn, error]
	called        *names.Matcher // see names
}

// empty reports whether there is nothing to decide.
func (c *chat) empty() bool { return len(c.people) < minParticipants || c.merged < minTurns }

// dry returns c without what was said.
func (c *chat) dry() *chat {
	if c == nil {
		return nil
	}
	return &chat{id: c.id}
}

// order puts the participants in byte order of their ids.
func (c *chat) order() {
	c.people = slices.Clone(c.people)
	slices.SortStableFunc(c.people, func(a, b Person) int { return strings.Compare(a.ID, b.ID) })
}

// events returns the merged turns as the log of a room in which each turn was
// granted by nobody's policy. labelled is told the labelled addressees of each
// turn before its message is yielded.
func (c *chat) events(labelled func([]string)) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		l := logger{yield: yield}
		ok := l.add(0, room.Opened{Spec: room.Spec{Room: c.id, Objective: c.objective}})
		for i := 0; ok && i < len(c.people); i++ {
			ok = l.add(0, room.Joined{Participant: c.people[i].participant()})
		}
		if !ok {
			return
		}
		matcher, n := c.names(), 0
		for turn, err := range merge(c.turns) {
			if err != nil {
				yield(room.Event{}, err)
				return
			}
			n++
			if !l.add(turn.Clock, room.TurnGranted{Turn: n, Participant: turn.Speaker}) {
				return
			}
			to := turn.others()
			labelled(to)
			if !l.add(turn.Clock, room.MessagePosted{Turn: n, Message: turn.message(c.id, n, to, matcher)}) {
				return
			}
		}
	}
}

// names compiles what the participants are called, once for all walks.
func (c *chat) names() *names.Matcher {
	if c.called != nil {
		return c.called
	}
	ids, display := make([]string, len(c.people)), make([]string, len(c.people))
	for i, p := range c.people {
		ids[i], display[i] = p.ID, p.Name
	}
	c.called = names.New(ids, display)
	return c.called
}

func (p Person) participant() room.Participant {
	s := room.Participant{ID: p.ID, Name: p.Name, Kind: policy.Local, Role: p.Role}
	switch {
	case p.Kind == KindHuman:
		s.Kind = policy.Human
	case p.Kind == KindTool && p.Role == "":
		s.Role = KindTool
	}
	return s
}

func (t Turn) message(talk string, n int, to []string, matcher *names.Matcher) room.Message {
	m := room.Message{
		ID: talk + "." + strconv.Itoa(n), Run: talk, From: t.Speaker, To: room.Broadcast, Kind: room.KindUtterance,
		Visibility: room.UserVisible, Text: t.Text, Turn: n,
	}
	m.Mentions, m.Addressed = matcher.Scan(t.Text, t.Speaker)
	if len(to) == 1 {
		m.To = to[0]
	}
	return m
}

// A logger numbers events.
type logger struct {
	seq   int64
	yield func(room.Event, error) bool
}

func (l *logger) add(clock time.Duration, body room.Body) bool {
	l.seq++
	return l.yield(room.Event{V: room.FormatVersion, Seq: l.seq, Actor: room.ActorHost, Epoch: 1, Clock: clock, Body: body}, nil)
}
