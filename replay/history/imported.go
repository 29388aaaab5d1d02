package history

import (
	"iter"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// newImportedMerger reads the log of a room in which no policy ever decided,
// for example an imported one, as a conversation: its participants, and of its
// messages the text that policies may read. It returns nil for a room in which
// a policy decided.
func newImportedMerger(name string, events iter.Seq2[room.Event, error]) (*merger, error) {
	m := &merger{id: name}
	known := map[string]bool{}
	join := func(p Participant) {
		if !known[p.ID] {
			known[p.ID] = true
			m.participants = append(m.participants, p)
		}
	}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if room.RecordOf(e) != nil {
			return nil, nil
		}
		switch b := e.Body.(type) {
		case room.Opened:
			m.objective = b.Spec.Objective
		case room.Joined:
			join(importedParticipant(b.Participant))
		case room.RoundDeclined:
			for _, d := range silencesIn(&e) {
				m.silences.add(&d)
			}
		case room.MessagePosted:
			join(Participant{ID: b.Message.From, Kind: KindHuman}) // a sender that never joined, such as the host
			m.addSpeaker(b.Message.From)
		}
	}
	m.turns = importedTurns(events)
	return m, nil
}

// importedTurns yields the messages of a room as turns.
func importedTurns(events iter.Seq2[room.Event, error]) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		for e, err := range events {
			if err != nil {
				yield(Turn{}, err)
				return
			}
			if b, ok := e.Body.(room.MessagePosted); ok && !yield(importedTurn(&b, e.Clock), nil) {
				return
			}
			for _, d := range silencesIn(&e) {
				if !yield(Turn{Decision: &d}, nil) {
					return
				}
			}
		}
	}
}

func importedTurn(b *room.MessagePosted, clock time.Duration) Turn {
	m := &b.Message
	t := Turn{Speaker: m.From, Text: readableText(m), Clock: clock, Usage: b.Usage}
	if m.To != "" && m.To != room.Broadcast {
		t.To = []string{m.To}
	}
	return t
}

func importedParticipant(p room.Participant) Participant {
	switch {
	case p.Kind == policy.Human:
		return Participant{p.ID, p.Name, KindHuman, p.Role}
	case p.Role == KindTool:
		return Participant{ID: p.ID, Name: p.Name, Kind: KindTool}
	}
	return Participant{p.ID, p.Name, KindAgent, p.Role}
}

// readableText is the text of m that policies may read.
func readableText(m *room.Message) string {
	switch m.Visibility {
	case room.Internal:
		return ""
	case room.UserRedacted:
		return m.Summary
	}
	return m.Text
}
