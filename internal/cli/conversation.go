package cli

import (
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/transcripts"
)

// conversationOf is what was said in a transcript: of a room, what its
// policies may read.
func conversationOf(o origin) (*transcripts.Conversation, error) {
	if o.talk != nil {
		return o.talk, nil
	}
	c := &transcripts.Conversation{ID: o.room}
	known := map[string]bool{}
	join := func(p transcripts.Participant) {
		if !known[p.ID] {
			known[p.ID] = true
			c.Participants = append(c.Participants, p)
		}
	}
	for e, err := range eventsIn(o.entries) {
		if err != nil {
			return nil, err
		}
		switch b := e.Body.(type) {
		case room.Joined:
			join(personOf(b.Participant))
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
