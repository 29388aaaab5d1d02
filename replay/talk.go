package replay

import (
	"slices"
	"time"
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
