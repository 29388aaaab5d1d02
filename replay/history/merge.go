package history

import (
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/names"
)

// A conversation with fewer participants or merged turns has no decision
// points.
const (
	minParticipants = 3
	minTurns        = 2
)

// A merger presents a conversation as the log of a room. It reads the turns
// again for every walk, so that a long conversation need not fit in memory.
type merger struct {
	id, objective string
	participants  []Participant // see order
	merged        int           // turns after merging
	speakers      []string      // in the order of their first turns
	spoke         map[string]bool
	lastSpeaker   string
	turns         iter.Seq2[Turn, error]
	silences      silences
	matcher       *names.Matcher // see names
}

func newMerger(c *Conversation) *merger {
	m := &merger{id: c.ID, objective: c.Objective, participants: c.Participants}
	m.turns = withDecisions(c)
	for i := range c.Decisions {
		m.silences.add(&c.Decisions[i])
	}
	for i := range c.Turns {
		m.addSpeaker(c.Turns[i].Speaker)
	}
	return m
}

// empty reports whether there is nothing to decide.
func (m *merger) empty() bool { return len(m.participants) < minParticipants || m.merged < minTurns }

// events yields the merged turns as the log of a room in which no policy
// decided. Before each message it passes the labeled addressees and the usage to
// note.
func (m *merger) events(note func([]string, room.Usage)) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		seq := int64(0)
		yieldBody := func(clock time.Duration, body room.Body) bool {
			seq++
			return yield(room.Event{V: room.FormatVersion, Seq: seq, Actor: room.ActorHost, Epoch: 1, Clock: clock, Body: body}, nil)
		}
		ok := yieldBody(0, room.Opened{Spec: room.Spec{Room: m.id, Objective: m.objective}})
		for i := 0; ok && i < len(m.participants); i++ {
			ok = yieldBody(0, room.Joined{Participant: m.participants[i].inRoom()})
		}
		if !ok {
			return
		}
		names, number := m.names(), 0
		for turn, err := range mergeTurns(m.turns) {
			if err != nil {
				yield(room.Event{}, err)
				return
			}
			if turn.Decision != nil {
				if !yieldBody(turn.Decision.Clock, turn.Decision.body()) {
					return
				}
				continue
			}
			if m.silences.impliedBy(turn.Speaker) && !yieldBody(turn.Clock, spoke{turn.Speaker}) {
				return
			}
			if turn.piece == 0 {
				number++
				if !yieldBody(turn.Clock, room.TurnGranted{Turn: number, Participant: turn.Speaker}) {
					return
				}
			}
			to := turn.addressees()
			note(to, turn.Usage)
			if !yieldBody(turn.Clock, room.MessagePosted{Turn: number, Message: turn.message(m.id, number, to, names)}) {
				return
			}
		}
	}
}

// names compiles the matcher of the participants' names, once for all walks.
func (m *merger) names() *names.Matcher {
	if m.matcher == nil {
		ids, display := make([]string, len(m.participants)), make([]string, len(m.participants))
		for i, p := range m.participants {
			ids[i], display[i] = p.ID, p.Name
		}
		m.matcher = names.New(ids, display)
	}
	return m.matcher
}

// mergeTurns joins consecutive turns of one speaker. A decision between two of them
// keeps them apart, as pieces of one turn.
func mergeTurns(turns iter.Seq2[Turn, error]) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		var last Turn
		pending, piece, number := false, 0, 0
		for turn, err := range turns {
			switch {
			case err != nil:
				yield(Turn{}, err)
				return
			case turn.Decision != nil:
				if pending && !yield(last, nil) || !yield(turn, nil) {
					return
				}
				pending = false
				continue
			case pending && turn.Speaker == last.Speaker:
				last.Text += "\n" + turn.Text
				last.To = append(last.To[:len(last.To):len(last.To)], turn.To...)
				last.Usage = sumUsage(last.Usage, turn.Usage)
				continue
			case pending && !yield(last, nil):
				return
			}
			if piece++; turn.Speaker != last.Speaker || number == 0 {
				piece = 0
			}
			number++
			turn.piece = piece
			last, pending = turn, true
		}
		if pending {
			yield(last, nil)
		}
	}
}

// sumUsage is the usage of two turns, unknown if that of one is.
func sumUsage(a, b room.Usage) room.Usage {
	if !a.Known || !b.Known {
		return room.Usage{}
	}
	return room.Usage{Known: true, Input: a.Input + b.Input, Output: a.Output + b.Output}
}

// addressees returns the labeled addressees without duplicates and without the
// speaker.
func (t Turn) addressees() []string {
	var out []string
	for _, id := range t.To {
		if id != t.Speaker && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

func (t Turn) message(conversation string, number int, to []string, names *names.Matcher) room.Message {
	m := room.Message{
		ID: conversation + "." + strconv.Itoa(number), Run: conversation, From: t.Speaker, To: room.Broadcast, Kind: room.KindUtterance,
		Visibility: room.UserVisible, Text: t.Text, Turn: number,
	}
	if t.piece > 0 {
		m.ID += "." + strconv.Itoa(t.piece)
	}
	m.Mentions, m.Addressed = names.Scan(t.Text, t.Speaker)
	if len(to) == 1 {
		m.To = to[0]
	}
	return m
}

func (p Participant) inRoom() room.Participant {
	q := room.Participant{ID: p.ID, Name: p.Name, Kind: policy.Local, Role: p.Role}
	switch {
	case p.Kind == KindHuman:
		q.Kind = policy.Human
	case p.Kind == KindTool && p.Role == "":
		q.Role = KindTool
	}
	return q
}
