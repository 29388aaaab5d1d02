package source

import (
	"iter"

	"github.com/folkmoot/moot/replay/history"
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

// Replayed converts a conversation for replay.
func Replayed(c *transcripts.Conversation) *history.Conversation {
	t := &history.Conversation{ID: c.ID, Objective: c.Objective()}
	for _, p := range c.Participants {
		t.Participants = append(t.Participants, history.Participant{ID: p.ID, Name: p.Name, Kind: p.Kind, Role: p.Role})
	}
	clocks := c.Clocks()
	t.Turns = make([]history.Turn, 0, len(c.Turns))
	for i, turn := range c.Turns {
		t.Turns = append(t.Turns, history.Turn{Speaker: turn.Speaker, Text: turn.Text, To: turn.Addressees, Clock: clocks[i], Usage: turn.Usage})
	}
	at := c.DecisionClocks()
	for i, d := range c.Decisions {
		t.Decisions = append(t.Decisions, history.Decision{Before: d.Before, Agent: d.Agent, Speak: d.Decision == transcripts.Speaks, Clock: at[i]})
	}
	return t
}
