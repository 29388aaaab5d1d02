package replay

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A history is a transcript made ready: the log of a room, and who is in it.
// It is not changed by replaying it, so many policies may at once.
type history struct {
	name   string
	talk   bool // from elsewhere: every grant but the first is a decision point
	events []room.Event
	seats  []seat
	index  map[string]int
}

// A seat is a participant for the purposes of figures.
type seat struct {
	id    string
	agent bool // neither a person nor a tool
	may   bool // may be chosen
	rank  int  // place in byte order of ids
}

func (t Transcript) history() (*history, error) {
	h := &history{name: t.Name, index: map[string]int{}}
	talk := t.Talk
	if talk == nil && !decided(t.Room) {
		talk = heard(t.Name, t.Room)
	}
	switch {
	case talk != nil:
		m := talk.merged()
		if m == nil {
			return nil, nil
		}
		h.talk, h.events = true, m.log()
		for _, p := range m.Participants {
			h.sit(p.ID, p.Kind == KindAgent, true)
		}
	default:
		h.events = t.Room
		for i, e := range t.Room {
			if e.Seq != int64(i+1) {
				return nil, fmt.Errorf("%s: event %d stands in place %d", t.Name, e.Seq, i+1)
			}
			if b, ok := e.Body.(room.Joined); ok {
				driven := b.Participant.Kind != policy.Human
				h.sit(b.Participant.ID, driven, driven)
			}
		}
	}
	h.order()
	return h, nil
}

func (h *history) sit(id string, agent, may bool) {
	if _, ok := h.index[id]; !ok {
		h.index[id] = len(h.seats)
		h.seats = append(h.seats, seat{id: id, agent: agent, may: may})
	}
}

func (h *history) order() {
	byID := make([]int, len(h.seats))
	for i := range byID {
		byID[i] = i
	}
	slices.SortFunc(byID, func(a, b int) int { return cmp.Compare(h.seats[a].id, h.seats[b].id) })
	for rank, i := range byID {
		h.seats[i].rank = rank
	}
}

// mixed reports whether silence has a meaning: somebody may speak whom no
// policy can choose, or policies may decline.
func (h *history) mixed() bool {
	return !h.talk || h.has(true) && h.has(false)
}

func (h *history) has(agent bool) bool {
	return slices.ContainsFunc(h.seats, func(s seat) bool { return s.agent == agent })
}

// log returns a merged talk as the log of a room in which each turn was
// granted by nobody's policy.
func (t *Talk) log() []room.Event {
	l := logger{room: t.ID}
	l.add(0, room.Opened{Spec: room.Spec{Room: t.ID, Objective: t.Objective}})
	ids := make([]string, len(t.Participants))
	for i, p := range t.Participants {
		ids[i] = p.ID
		l.add(0, room.Joined{Participant: p.participant()})
	}
	names := room.NewNames(ids, nil)
	for i, turn := range t.Turns {
		l.add(turn.Clock, room.TurnGranted{Turn: i + 1, Participant: turn.Speaker})
		l.add(turn.Clock, room.MessagePosted{Turn: i + 1, Message: turn.message(t.ID, i, names)})
	}
	return l.events
}

func (p Person) participant() room.Participant {
	s := room.Participant{ID: p.ID, Kind: policy.Local, Role: p.Role}
	switch {
	case p.Kind == KindHuman:
		s.Kind = policy.Human
	case p.Kind == KindTool && p.Role == "":
		s.Role = KindTool
	}
	return s
}

func (t Turn) message(talk string, i int, names *room.Names) room.Message {
	m := room.Message{
		ID: fmt.Sprintf("m%d", i+1), Run: talk, From: t.Speaker, To: room.Broadcast, Kind: room.KindUtterance,
		Visibility: room.UserVisible, Text: t.Text, Turn: i + 1,
	}
	m.Mentions, m.Addressed = names.Scan(t.Text, t.Speaker)
	if to := t.others(); len(to) == 1 {
		m.To = to[0]
	}
	return m
}

// others returns the labelled addressees, once each, without the speaker.
func (t Turn) others() []string {
	var out []string
	for _, id := range t.To {
		if id != t.Speaker && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// A logger numbers events.
type logger struct {
	room   string
	events []room.Event
}

func (l *logger) add(clock time.Duration, body room.Body) {
	seq := int64(len(l.events) + 1)
	l.events = append(l.events, room.Event{
		V: room.FormatVersion, Seq: seq, ID: fmt.Sprintf("e%d", seq), Actor: room.ActorHost, Epoch: 1, Clock: clock, Body: body,
	})
}

// text is a room.TextFunc: what policies may read of the message at seq.
func (h *history) text(seq int64) (string, error) {
	if seq < 1 || seq > int64(len(h.events)) {
		return "", fmt.Errorf("%s has no event %d", h.name, seq)
	}
	b, ok := h.events[seq-1].Body.(room.MessagePosted)
	if !ok {
		return "", nil
	}
	switch b.Message.Visibility {
	case room.Internal:
		return "", nil
	case room.UserRedacted:
		return b.Message.Summary, nil
	}
	return b.Message.Text, nil
}
