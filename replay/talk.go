package replay

import (
	"slices"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A Talk is a conversation from elsewhere: who was there and what was said,
// without rounds of a room.
//
// It is replayed at its merged turns. Turns of one speaker in a row count as
// one, their texts joined by a line feed and their addressees put together. A
// decision point stands before every merged turn but the first; its
// candidates are all participants but the last speaker, people and tools too.
type Talk struct {
	ID           string
	Objective    string
	Participants []Person
	Turns        []Turn
}

// A Person takes part in a talk.
type Person struct {
	ID   string
	Kind string // KindAgent, KindHuman or KindTool
	Role string
}

// Kinds of participants.
const (
	KindAgent = "agent"
	KindHuman = "human"
	KindTool  = "tool"
)

// A Turn is one contribution.
type Turn struct {
	Speaker string
	Text    string
	To      []string      // as labelled by the source
	Clock   time.Duration // since the beginning; never runs back
}

// Bounds under which a talk has nothing to decide.
const (
	minParticipants = 3
	minTurns        = 2
)

// merged returns the talk with its participants in byte order of their ids
// and the turns of one speaker in a row merged; nil when it has too few of
// either. t stays as it is.
func (t *Talk) merged() *Talk {
	m := &Talk{ID: t.ID, Objective: t.Objective, Participants: slices.Clone(t.Participants)}
	slices.SortFunc(m.Participants, func(a, b Person) int {
		switch {
		case a.ID < b.ID:
			return -1
		case a.ID > b.ID:
			return 1
		}
		return 0
	})
	for _, turn := range t.Turns {
		if n := len(m.Turns); n > 0 && m.Turns[n-1].Speaker == turn.Speaker {
			last := &m.Turns[n-1]
			last.Text += "\n" + turn.Text
			last.To = append(last.To, turn.To...)
			continue
		}
		turn.To = slices.Clone(turn.To)
		m.Turns = append(m.Turns, turn)
	}
	if len(m.Participants) < minParticipants || len(m.Turns) < minTurns {
		return nil
	}
	return m
}

// decided reports whether a policy ever decided in a room.
func decided(events []room.Event) bool {
	return slices.ContainsFunc(events, func(e room.Event) bool { return room.RecordOf(e) != nil })
}

// heard makes a talk of a room in which no policy decided, such as one that
// was imported: who joined, and what policies may read of what was said.
func heard(name string, events []room.Event) *Talk {
	t := &Talk{ID: name}
	join := func(p Person) {
		if !slices.ContainsFunc(t.Participants, func(q Person) bool { return q.ID == p.ID }) {
			t.Participants = append(t.Participants, p)
		}
	}
	for _, e := range events {
		switch b := e.Body.(type) {
		case room.Opened:
			t.Objective = b.Spec.Objective
		case room.Joined:
			join(personOf(b.Participant))
		case room.MessagePosted:
			join(Person{ID: b.Message.From, Kind: KindHuman}) // the host, say
			t.Turns = append(t.Turns, turnOf(b.Message, e.Clock))
		}
	}
	return t
}

func personOf(p room.Participant) Person {
	switch {
	case p.Kind == policy.Human:
		return Person{p.ID, KindHuman, p.Role}
	case p.Role == KindTool:
		return Person{ID: p.ID, Kind: KindTool}
	}
	return Person{p.ID, KindAgent, p.Role}
}

func turnOf(m room.Message, clock time.Duration) Turn {
	t := Turn{Speaker: m.From, Text: m.Text, Clock: clock}
	switch m.Visibility {
	case room.Internal:
		t.Text = ""
	case room.UserRedacted:
		t.Text = m.Summary
	}
	if m.To != "" && m.To != room.Broadcast {
		t.To = []string{m.To}
	}
	return t
}
