package transcripts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/names"
)

// Events converts the conversation to the log of a room: the room opens, the
// participants join in byte order of their ids, and each turn becomes a message.
// There are no grants, because the source has none. A recorded silence becomes a
// declined round without the record of a policy. The
// room clock is that of the source, if it has one.
func (c *Conversation) Events() []room.Event {
	b := eventBuilder{names: c.names()}
	b.add(room.ActorHost, room.Opened{Spec: room.Spec{Room: c.ID, Name: c.ID, Objective: c.Objective()}})
	people := slices.SortedFunc(slices.Values(c.Participants), func(a, b Participant) int { return strings.Compare(a.ID, b.ID) })
	for _, p := range people {
		b.add(room.ActorHost, room.Joined{Participant: p.roomParticipant()})
	}
	times := c.times()
	decisions := c.decisionClocks(times)
	next := 0
	silences := func(before int) {
		for ; next < len(decisions) && c.Decisions[next].Before <= before; next++ {
			if body, ok := c.Decisions[next].declined(); ok {
				b.clock, b.at = decisions[next].clock, time.Time{}
				b.add(room.ActorHost, body)
			}
		}
	}
	for i := range c.Turns {
		silences(i)
		b.clock, b.at = times[i].clock, times[i].wall
		b.add(c.Turns[i].Speaker, room.MessagePosted{Message: b.message(c, &c.Turns[i]), Usage: c.Turns[i].Usage})
	}
	silences(len(c.Turns))
	return b.events
}

// Objective returns the objective of the conversation as stated by the source,
// or "".
func (c *Conversation) Objective() string {
	var extra struct {
		Objective string `json:"objective"`
	}
	if json.Unmarshal(c.Extra, &extra) != nil {
		return ""
	}
	return extra.Objective
}

func (c *Conversation) names() *names.Matcher {
	ids, display := make([]string, len(c.Participants)), make([]string, len(c.Participants))
	for i, p := range c.Participants {
		ids[i], display[i] = p.ID, p.Name
	}
	return names.New(ids, display)
}

// roomParticipant converts p to a participant of a room.
func (p Participant) roomParticipant() room.Participant {
	a := p.Agent()
	return room.Participant{ID: p.ID, Name: p.Name, Kind: a.Kind, Role: a.Role}
}

// Agent converts p to an agent of the input of a policy. A tool becomes a local
// agent with the role tool.
func (p Participant) Agent() policy.Agent {
	a := policy.Agent{ID: p.ID, Name: cmp.Or(p.Name, p.ID), Kind: policy.Local, Role: p.Role}
	switch {
	case p.Kind == KindHuman:
		a.Kind = policy.Human
	case p.Kind == KindTool && p.Role == "":
		a.Role = KindTool
	}
	return a
}

// A turnTime is the time of a turn.
type turnTime struct {
	clock time.Duration
	wall  time.Time
}

// times returns the time of each turn. The room clock never runs back, although
// the times of a source may.
func (c *Conversation) times() []turnTime {
	var all []turnTime
	var start time.Time // wall time of the first turn that has one
	var clock time.Duration
	offset := c.clockOffset()
	for i := range c.Turns {
		t := &c.Turns[i]
		wall, _ := t.wallTime() // checked by check
		if start.IsZero() {
			start = wall
		}
		switch {
		case t.Seconds != nil:
			s := time.Duration(*t.Seconds * float64(time.Second))
			clock = max(clock, s+offset)
		case !wall.IsZero():
			clock = max(clock, wall.Sub(start))
		}
		all = append(all, turnTime{clock, wall})
	}
	return all
}

// clockOffset is the room clock at the start of the source: a first turn before it
// has the clock 0.
func (c *Conversation) clockOffset() time.Duration {
	if len(c.Turns) == 0 || c.Turns[0].Seconds == nil {
		return 0
	}
	return max(0, -time.Duration(*c.Turns[0].Seconds*float64(time.Second)))
}

// Clocks returns the room clock at each turn, as in [Conversation.Events].
func (c *Conversation) Clocks() []time.Duration {
	clocks := make([]time.Duration, len(c.Turns))
	for i, m := range c.times() {
		clocks[i] = m.clock
	}
	return clocks
}

// An eventBuilder numbers events.
type eventBuilder struct {
	names  *names.Matcher
	events []room.Event
	clock  time.Duration
	at     time.Time
}

func (b *eventBuilder) add(actor string, body room.Body) {
	seq := int64(len(b.events) + 1)
	b.events = append(b.events, room.Event{
		V: room.FormatVersion, Seq: seq, ID: fmt.Sprintf("i%d", seq), Actor: actor, Epoch: 1,
		At: b.at, Clock: b.clock, Body: body,
	})
}

func (b *eventBuilder) message(c *Conversation, t *Turn) room.Message {
	m := room.Message{
		ID: fmt.Sprintf("m%d", t.I+1), Run: c.ID, From: t.Speaker, To: room.Broadcast,
		Kind: room.KindUtterance, Visibility: room.UserVisible, Text: t.Text, Turn: t.I + 1,
	}
	if t.Kind != "" {
		m.ID, m.Kind, m.Correlation = cmp.Or(t.MessageID, m.ID), t.Kind, t.Correlation
	}
	if t.Channel == ChannelThought {
		m.Visibility = room.Internal
	}
	if len(t.Addressees) == 1 {
		m.To = t.Addressees[0]
	}
	if !b.at.IsZero() {
		m.CreatedAt = float64(b.at.UnixMilli()) / 1000
	}
	m.Mentions, m.Addressed = b.names.Scan(t.Text, t.Speaker)
	if len(t.Addressees) > 1 { // a message has one receiver; Addressed holds the others
		m.Mentions, m.Addressed = union(m.Mentions, t.Addressees), union(m.Addressed, t.Addressees)
	}
	return m
}

// union appends to ids those of more that are missing.
func union(ids, more []string) []string {
	for _, id := range more {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
