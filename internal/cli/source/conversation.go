package source

import (
	"iter"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/transcripts"
)

// ConversationOf is what was said in a transcript: of a room, what its
// policies may read.
func ConversationOf(o Origin) (*transcripts.Conversation, error) {
	if o.Talk != nil {
		return o.Talk, nil
	}
	return transcripts.ConversationOf(o.Entries, transcripts.UserVisible)
}

// EventsIn yields the events in entries.
func EventsIn(entries iter.Seq2[log.Entry, error]) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		for e, err := range entries {
			if !yield(e.Event, err) || err != nil {
				return
			}
		}
	}
}
