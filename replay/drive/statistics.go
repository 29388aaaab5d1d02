package drive

import (
	"slices"

	"github.com/folkmoot/moot/policies/habit"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/names"
)

// statistics is what the baselines know of a transcript: how often each seat
// spoke, which seats followed each other, and whom the last turn names.
// Consecutive messages of one speaker are one turn.
type statistics struct {
	turns        map[int]int // by seat
	bigrams      map[[2]int]int
	trigrams     map[[3]int]int
	last, before int // the last two speakers; -1 for none
	addressed    int // seat that the last turn addresses by name; -1 for none

	message  *room.Message  // of the last turn; nil when none of the seats posted it
	names    *names.Matcher // for so many seats
	seats    int
	mentions mentions
	scanned  bool // mentions are those of message
}

// mentions are the seats that a message names.
type mentions struct {
	seats []int // in the order in which they are first named
	first int   // named at the very start; -1 for none
	last  int   // named last; -1 for none
}

// newStatistics returns empty statistics, or nil if no policy is a baseline.
func newStatistics(policies []Policy) *statistics {
	if !slices.ContainsFunc(policies, func(p Policy) bool { return p.Baseline != "" }) {
		return nil
	}
	return &statistics{turns: map[int]int{}, bigrams: map[[2]int]int{}, trigrams: map[[3]int]int{}, last: -1, before: -1, addressed: -1}
}

// listener returns the function to be called after each message; nil for nil.
func (s *statistics) listener() func(*history.Point, *room.Message) {
	if s == nil {
		return nil
	}
	return s.add
}

// add counts a message, after p noted its speaker.
func (s *statistics) add(p *history.Point, m *room.Message) {
	s.addressed, s.message, s.scanned = -1, nil, false
	speaker := p.Last
	if speaker < 0 {
		return
	}
	message := *m
	s.message = &message
	if n := len(m.Addressed); n > 0 {
		s.addressed = seatOrNone(p, m.Addressed[n-1])
	}
	if speaker == s.last {
		return
	}
	s.turns[speaker]++
	if s.last >= 0 {
		s.bigrams[[2]int{s.last, speaker}]++
	}
	if s.before >= 0 {
		s.trigrams[[3]int{s.before, s.last, speaker}]++
	}
	s.last, s.before = speaker, s.last
}

func seatOrNone(p *history.Point, id string) int {
	if seat, ok := p.History.SeatOf(id); ok {
		return seat
	}
	return -1
}

// named rates how strongly the last turn names the seat; 0 for not at all.
func (s *statistics) named(p *history.Point, seat int) int {
	s.scan(p)
	at := slices.Index(s.mentions.seats, seat)
	if at < 0 {
		return 0
	}
	return habit.Named(at, seat == s.mentions.first, seat == s.mentions.last)
}

// scan finds the seats that the last turn names, once for each turn.
func (s *statistics) scan(p *history.Point) {
	if s.scanned {
		return
	}
	s.scanned, s.mentions = true, mentions{seats: s.mentions.seats[:0], first: -1, last: -1}
	if s.message == nil {
		return
	}
	named, first := s.matcher(p).First(s.message.Text, s.message.From)
	for _, id := range named {
		s.mentions.seats = append(s.mentions.seats, seatOrNone(p, id))
	}
	s.mentions.first = seatOrNone(p, first)
	if n := len(s.message.Mentions); n > 0 {
		s.mentions.last = seatOrNone(p, s.message.Mentions[n-1])
	}
}

func (s *statistics) matcher(p *history.Point) *names.Matcher {
	if names := p.Names(); names != nil {
		return names
	}
	if s.names == nil || s.seats != len(p.State.Seats) {
		s.seats = len(p.State.Seats)
		ids, display := make([]string, s.seats), make([]string, s.seats)
		for i, x := range p.State.Seats {
			ids[i], display[i] = x.ID, x.Name
		}
		s.names = names.New(ids, display)
	}
	return s.names
}
