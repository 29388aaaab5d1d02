package source

import (
	"iter"

	"github.com/folkmoot/moot/policies/policy"
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
	c := &transcripts.Conversation{ID: o.Room}
	known := map[string]bool{}
	speaking := ""
	silent := func(ids ...string) {
		for _, id := range ids {
			c.Decisions = append(c.Decisions, transcripts.Decision{Before: len(c.Turns), Agent: id, Decision: transcripts.Declines})
		}
	}
	join := func(p transcripts.Participant) {
		if !known[p.ID] {
			known[p.ID] = true
			c.Participants = append(c.Participants, p)
		}
	}
	for e, err := range EventsIn(o.Entries) {
		if err != nil {
			return nil, err
		}
		switch b := e.Body.(type) {
		case room.Joined:
			join(personOf(b.Participant))
		case room.TurnGranted:
			speaking = b.Participant
		case room.TurnPassed:
			silent(speaking)
		case room.RoundDeclined:
			if len(b.Silent) == 0 {
				silent("")
			}
			silent(b.Silent...)
		case room.MessagePosted:
			m := b.Message
			join(transcripts.Participant{ID: m.From, Kind: transcripts.KindHuman}) // the host, say
			c.Turns = append(c.Turns, transcripts.Turn{I: len(c.Turns), Speaker: m.From, Text: readable(m)})
		}
	}
	return c, nil
}

func personOf(p room.Participant) transcripts.Participant {
	s := transcripts.Participant{ID: p.ID, Name: p.Name, Kind: transcripts.KindAgent, Role: p.Role}
	switch {
	case p.Kind == policy.Human:
		s.Kind = transcripts.KindHuman
	case p.Role == transcripts.KindTool:
		s.Kind, s.Role = transcripts.KindTool, ""
	}
	return s
}

// readable is the part of a message that policies may read.
func readable(m room.Message) string {
	switch m.Visibility {
	case room.Internal:
		return ""
	case room.UserRedacted:
		return m.Summary
	}
	return m.Text
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
