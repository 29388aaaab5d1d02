package replay

import (
	"iter"
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
	Name string // what people call it, when that is not its id
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

// chat returns t for replay.
func (t *Talk) chat() *chat {
	c := &chat{id: t.ID, objective: t.Objective, people: t.Participants}
	c.turns = func(yield func(Turn, error) bool) {
		for _, turn := range t.Turns {
			if !yield(turn, nil) {
				return
			}
		}
	}
	for i := range t.Turns {
		if i == 0 || t.Turns[i].Speaker != t.Turns[i-1].Speaker {
			c.merged++
		}
	}
	return c
}

// merge joins the turns of one speaker in a row.
func merge(turns iter.Seq2[Turn, error]) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		var held Turn
		some := false
		for turn, err := range turns {
			switch {
			case err != nil:
				yield(Turn{}, err)
				return
			case some && turn.Speaker == held.Speaker:
				held.Text += "\n" + turn.Text
				held.To = append(held.To[:len(held.To):len(held.To)], turn.To...)
				continue
			case some && !yield(held, nil):
				return
			}
			held, some = turn, true
		}
		if some {
			yield(held, nil)
		}
	}
}

// others returns the labelled addressees, once each, without the speaker.
func (t Turn) others() []string {
	var out []string
	for i, id := range t.To {
		if id != t.Speaker && !contains(t.To[:i], id) {
			out = append(out, id)
		}
	}
	return out
}

func contains(ids []string, id string) bool {
	for _, s := range ids {
		if s == id {
			return true
		}
	}
	return false
}
