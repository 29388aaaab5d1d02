package replay

import (
	"iter"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// survey reads a room as far as it must be known before it is replayed. It
// returns nil when a policy decided in it. A room in which none ever did, such
// as one that was imported, is the chat that it is: who joined, and what
// policies may read of what was said.
func survey(name string, events iter.Seq2[room.Event, error]) (*chat, error) {
	c := &chat{id: name}
	known := map[string]bool{}
	join := func(p Person) {
		if !known[p.ID] {
			known[p.ID] = true
			c.people = append(c.people, p)
		}
	}
	last, some := "", false
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if room.RecordOf(e) != nil {
			return nil, nil
		}
		switch b := e.Body.(type) {
		case room.Opened:
			c.objective = b.Spec.Objective
		case room.Joined:
			join(personOf(b.Participant))
		case room.MessagePosted:
			join(Person{ID: b.Message.From, Kind: KindHuman}) // the host, say
			if !some || b.Message.From != last {
				c.merged++
			}
			last, some = b.Message.From, true
		}
	}
	c.turns = said(events)
	return c, nil
}

// said yields the messages of a room as turns.
func said(events iter.Seq2[room.Event, error]) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		for e, err := range events {
			if err != nil {
				yield(Turn{}, err)
				return
			}
			if b, ok := e.Body.(room.MessagePosted); ok && !yield(turnOf(b.Message, e), nil) {
				return
			}
		}
	}
}

func personOf(p room.Participant) Person {
	switch {
	case p.Kind == policy.Human:
		return Person{p.ID, p.Name, KindHuman, p.Role}
	case p.Role == KindTool:
		return Person{ID: p.ID, Name: p.Name, Kind: KindTool}
	}
	return Person{p.ID, p.Name, KindAgent, p.Role}
}

// shown is what policies may read of a message.
func shown(m *room.Message) string {
	switch m.Visibility {
	case room.Internal:
		return ""
	case room.UserRedacted:
		return m.Summary
	}
	return m.Text
}

func turnOf(m room.Message, e room.Event) Turn {
	t := Turn{Speaker: m.From, Text: shown(&m), Clock: e.Clock}
	if m.To != "" && m.To != room.Broadcast {
		t.To = []string{m.To}
	}
	return t
}
