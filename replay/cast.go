package replay

import (
	"math"
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
	script       script
	lines        map[string]int // of who can be given the floor, by id
	cues         int            // what the others said
	everybody    bool           // only people speak, and all are given the floor like agents
	first        string         // who spoke first
	opens        string         // who has the first turn, of a talk in which no person has; "" in a room
}

// castOf reads who takes part, and what they said if that is little enough to
// be held. Unlike a what-if, a simulation needs it in any order: a policy may
// let anybody speak next.
func (h *history) castOf() (*cast, error) {
	c, agents := &cast{lines: map[string]int{}}, false // agents speak
	for e, err := range h.again() {
		if err != nil {
			return nil, err
		}
		switch b := e.Body.(type) {
		case room.Opened:
			c.spec = b.Spec
		case room.Joined:
			c.join(b.Participant)
		case room.MessagePosted:
			if c.first == "" {
				c.first = b.Message.From
			}
			agents = agents || b.Turn > 0 && c.driven(b.Message.From)
		}
	}
	c.everybody = h.chat != nil && !agents
	c.script = script{log: h.again(), classify: c.saying, most: heldBytes}
	if len(c.participants) > mostReaders {
		c.script.most = math.MaxInt
	}
	turns, err := c.script.hold(c.count)
	if err != nil {
		return nil, err
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
	return slices.ContainsFunc(c.participants, func(p room.Participant) bool {
		return p.ID == id && (c.everybody || p.Kind != policy.Human)
	})
}

func (c *cast) count(s *saying) {
	if s.line {
		c.lines[s.from]++
	} else {
		c.cues++
	}
}

// talk makes a room of a talk from elsewhere. Its limits are those of the talk:
// as many turns as it had. Nobody has two turns in a row, because turns were
// merged. Where there are only people, all of them are given the floor like
// agents; otherwise people say what they said when they said it.
func (c *cast) talk(turns int) {
	const never = 1 << 30
	c.spec.Limits = room.Limits{MaxDuration: never * time.Second, SameText: never, SameTextOf: 1, MaxOutput: never}
	if c.everybody {
		for i := range c.participants {
			c.participants[i].Kind = policy.Local
		}
	} else {
		turns -= c.cues
		c.script.turns = true
	}
	if c.driven(c.first) {
		c.opens = c.first
	}
	c.spec.Limits.MaxTurns = max(turns, 1)
	for i := range c.participants {
		c.participants[i].Cooldown = 1
	}
}
