package waste

import (
	"iter"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/transcripts"
)

// Labels says where the labels of conversations are.
type Labels struct {
	Mistake string // field of the turn with the decisive error; "" means transcripts.MistakeField
	Outcome string // field of the success; "" means the usual ones
}

// Run returns what the labels of a conversation say about it.
func (l Labels) Run(c *transcripts.Conversation, file string) Run {
	r := Run{Name: c.ID, File: file, Mistake: NoTurn}
	field := l.Mistake
	if field == "" {
		field = transcripts.MistakeField
	}
	if turn, ok := c.Mistake(field); ok {
		r.Mistake = turn
	}
	if value, ok := c.Outcome(l.Outcome); ok {
		r.Outcome = Failed
		if value > 0 {
			r.Outcome = Succeeded
		}
	}
	return r
}

// AddConversation counts a conversation. It fails as Step does.
func (a *Account) AddConversation(r Run, c *transcripts.Conversation) error {
	w := a.Begin(r)
	defer w.End()
	w.length = len(c.Turns)
	for _, p := range c.Participants {
		w.Join(p)
	}
	for i := range c.Turns {
		if err := a.step(); err != nil {
			return err
		}
		t := &c.Turns[i]
		w.Add(Turn{Speaker: t.Speaker, Text: t.Text, Quote: t.Text, Usage: t.Usage})
	}
	return nil
}

func (a *Account) step() error {
	if a.Step == nil {
		return nil
	}
	return a.Step()
}

// AddRoom counts a room by its events, one by one. It fails as events and Step do.
func (a *Account) AddRoom(r Run, events iter.Seq2[room.Event, error]) error {
	w := a.Begin(r)
	defer w.End()
	for e, err := range events {
		if err != nil {
			return err
		}
		switch b := e.Body.(type) {
		case room.Joined:
			w.Join(personOf(b.Participant))
		case room.MessagePosted:
			if err := a.step(); err != nil {
				return err
			}
			w.Add(Turn{Speaker: b.Message.From, Text: b.Message.Text, Quote: quotable(&b.Message), Usage: b.Usage})
		}
	}
	return nil
}

// quotable is the part of a message that other participants may read.
func quotable(m *room.Message) string {
	switch m.Visibility {
	case room.Internal:
		return "(internal)"
	case room.UserRedacted:
		return m.Summary
	}
	return m.Text
}

func personOf(p room.Participant) transcripts.Participant {
	s := transcripts.Participant{ID: p.ID, Name: p.Name, Kind: transcripts.KindAgent}
	switch {
	case p.Kind == policy.Human:
		s.Kind = transcripts.KindHuman
	case p.Role == transcripts.KindTool:
		s.Kind = transcripts.KindTool
	}
	return s
}
