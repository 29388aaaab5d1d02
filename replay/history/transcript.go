package history

import (
	"iter"
	"time"

	"github.com/folkmoot/moot/room"
)

// A Transcript is the input of a replay. One of Conversation, Room and Events
// is set.
type Transcript struct {
	Name         string
	Conversation *Conversation
	Room         []room.Event // the log of a room

	// Events is the log of a room, read on demand. It is read more than once,
	// and by another goroutine than the one that made it.
	Events iter.Seq2[room.Event, error]
	Length int // of Events, for estimates; 0 when it is not known

	// Fields are what is known of the transcript as a whole, such as a rating: numbers by
	// name, 1 and 0 for true and false. A room of moot that has ended also has
	// [FieldCompleted].
	Fields map[string]float64
}

// events returns the log of a room as a sequence.
func (t Transcript) events() iter.Seq2[room.Event, error] {
	if t.Events != nil {
		return t.Events
	}
	return func(yield func(room.Event, error) bool) {
		for _, e := range t.Room {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// A Conversation is a transcript of another program: participants and turns,
// without decisions of a policy.
//
// Consecutive turns of one speaker are merged into one: their texts are joined
// by a line feed and their addressees are put together. There is a decision
// point before every merged turn but the first. Its candidates are all
// participants except the last speaker, people and tools included.
type Conversation struct {
	ID           string
	Objective    string
	Participants []Participant
	Turns        []Turn
	Decisions    []Decision // in the order of Before; each is a decision point of its own
}

// A Participant takes part in a conversation.
type Participant struct {
	ID   string
	Name string // display name, when it differs from the ID
	Kind string // KindAgent, KindHuman or KindTool
	Role string
}

// Kinds of participants.
const (
	KindAgent = "agent"
	KindHuman = "human"
	KindTool  = "tool"
)

// A Turn is one contribution to a conversation.
type Turn struct {
	Speaker string
	Text    string
	To      []string      // addressees, as labeled by the source
	Clock   time.Duration // since the first turn; never decreases
	Usage   room.Usage    // as the source states it

	// Decision, when set, says that this is no turn but a recorded decision between two.
	// The other fields are not set.
	Decision *Decision

	piece int // of turns of one speaker that decisions separate, from 0
}
