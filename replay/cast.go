package replay

import (
	"slices"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A cast is a transcript as a play: who takes part, in what room, and what
// each of them said.
type cast struct {
	spec         room.Spec
	participants []room.Participant
	lines        map[string][]utterance // of who can be given the floor, by id
	people       []cue                  // what the others said
	first        string                 // who spoke first
	opens        string                 // who has the first turn, of a talk in which no person has; "" in a room
}

// An utterance is one turn of an agent.
type utterance struct {
	text    string
	latency time.Duration
}

// A cue is what a person said, after so many turns had been granted.
type cue struct {
	after    int
	from, to string
	text     string
	shown    room.Visibility
}

// beat is how long a turn takes of which it is not known.
const beat = time.Second

// castOf reads what everybody said. Unlike a what-if, it needs all of it at
// once: a policy may let anybody speak next.
func (h *history) castOf() (*cast, error) {
	c := &cast{lines: map[string][]utterance{}}
	turns := 0
	for e, err := range h.events() {
		if err != nil {
			return nil, err
		}
		switch b := e.Body.(type) {
		case room.Opened:
			c.spec = b.Spec
		case room.Joined:
			c.join(b.Participant)
		case room.TurnGranted:
			turns++
		case room.MessagePosted:
			c.hear(&b, turns)
		}
	}
	if h.chat != nil {
		c.talk(turns)
	}
	return c, nil
}

// join adds a participant, who needs nobody's approval: there is nobody to
// give it.
func (c *cast) join(p room.Participant) {
	p.Mode, p.Endpoint = room.FullAuto, nil
	at := slices.IndexFunc(c.participants, func(q room.Participant) bool { return q.ID == p.ID })
	if at < 0 {
		c.participants = append(c.participants, p)
	}
}

func (c *cast) driven(id string) bool {
	return slices.ContainsFunc(c.participants, func(p room.Participant) bool { return p.ID == id && p.Kind != policy.Human })
}

// hear notes what was said, after so many turns.
func (c *cast) hear(b *room.MessagePosted, turns int) {
	m := &b.Message
	if c.first == "" {
		c.first = m.From
	}
	switch {
	case !c.driven(m.From):
		c.people = append(c.people, cue{turns, m.From, m.To, m.Text, m.Visibility})
	case b.Turn > 0:
		c.lines[m.From] = append(c.lines[m.From], utterance{m.Text, max(b.Latency, beat)})
	}
}

// talk makes a room of a talk from elsewhere. Its limits are those of the talk:
// as many turns as it had. Nobody has two turns in a row, because turns were
// merged. Where there are only people, all of them are given the floor like
// agents; otherwise people say what they said when they said it.
func (c *cast) talk(turns int) {
	const never = 1 << 30
	c.spec.Limits = room.Limits{MaxDuration: never * time.Second, SameText: never, SameTextOf: 1, MaxOutput: never}
	if len(c.lines) == 0 {
		for i := range c.participants {
			c.participants[i].Kind = policy.Local
		}
		for _, q := range c.people {
			c.lines[q.from] = append(c.lines[q.from], utterance{q.text, beat})
		}
		c.people = nil
	} else {
		turns -= len(c.people)
		for i := range c.people { // in the log of a talk people have turns too
			c.people[i].after -= i + 1 // its own and those of people before
		}
	}
	if c.driven(c.first) {
		c.opens = c.first
	}
	c.spec.Limits.MaxTurns = max(turns, 1)
	for i := range c.participants {
		c.participants[i].Cooldown = 1
	}
}
