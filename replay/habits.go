package replay

import (
	"slices"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/names"
)

// habits is what baselines know of a conversation: who spoke how often and
// after whom, and whom the last turn names. Turns of one speaker in a row are
// one turn.
type habits struct {
	turns        []int // by seat
	after        map[[2]int]int
	afterTwo     map[[3]int]int
	last, before int // speakers; -1 for none
	to           int // seat that the last turn addresses; -1 for none

	message   *room.Message  // the last turn's; nil when it is nobody's of the roster
	names     *names.Matcher // of so many seats
	seats     int
	named     []int // by the last turn, first named first
	lead, end int   // of them, at the very start, and named last; -1 for none
	read      bool  // whether these three are about the last turn
}

func newHabits() *habits {
	return &habits{after: map[[2]int]int{}, afterTwo: map[[3]int]int{}, last: -1, before: -1, to: -1}
}

// said takes in a message; p knows already who spoke.
func (k *habits) said(p *point, m *room.Message) {
	k.to, k.message, k.read = -1, nil, false
	who := p.last
	if who < 0 {
		return
	}
	for len(k.turns) < len(p.h.seats) {
		k.turns = append(k.turns, 0)
	}
	copied := *m
	k.message = &copied
	if n := len(m.Addressed); n > 0 {
		k.to = p.seat(m.Addressed[n-1])
	}
	if who == k.last {
		return
	}
	k.turns[who]++
	if k.last >= 0 {
		k.after[[2]int{k.last, who}]++
	}
	if k.before >= 0 {
		k.afterTwo[[3]int{k.before, k.last, who}]++
	}
	k.last, k.before = who, k.last
}

func (p *point) seat(id string) int {
	if who, ok := p.h.index[id]; ok {
		return who
	}
	return -1
}

// scan finds out whom the last turn names.
func (k *habits) scan(p *point) {
	if k.read {
		return
	}
	k.read, k.named, k.lead, k.end = true, k.named[:0], -1, -1
	if k.message == nil {
		return
	}
	if c := p.h.chat; c != nil && !p.simulated {
		k.names = c.names()
	} else if k.names == nil || k.seats != len(p.state.Seats) {
		k.seats = len(p.state.Seats)
		ids, display := make([]string, k.seats), make([]string, k.seats)
		for i, x := range p.state.Seats {
			ids[i], display[i] = x.ID, x.Name
		}
		k.names = names.New(ids, display)
	}
	named, lead := k.names.First(k.message.Text, k.message.From)
	for _, id := range named {
		k.named = append(k.named, p.seat(id))
	}
	k.lead = p.seat(lead)
	if n := len(k.message.Mentions); n > 0 {
		k.end = p.seat(k.message.Mentions[n-1])
	}
}

// mention is how strongly the last turn names a seat: 1e6 at its very start,
// 1,000 when it is named last, and otherwise the more the later it is first
// named.
func (k *habits) mention(p *point, c int) float64 {
	k.scan(p)
	at := slices.Index(k.named, c)
	switch {
	case at < 0:
		return 0
	case c == k.lead:
		return 1e6
	case c == k.end:
		return 1000
	}
	return float64(1 + at)
}
