package replay

import (
	"sort"

	"github.com/folkmoot/moot/room"
)

// In a talk everybody is handed the same: everything that was said is public
// and nobody has a cursor. So what [room.State.WindowFor] would find by going
// back message by message, as much as fits whole and then a line each, follows
// from two running sums. TestSayings holds both to each other.
type sayings struct {
	whole, lines []int64 // sums of all messages up to each; the newest last
	dropped      int     // older ones that are no longer kept
}

// Bounds of what is kept: no window of a usual room reaches back further, and
// one that does is made by the room itself.
const (
	maxSayings  = 8192
	lineTokens  = 30 // of a line about a message, at most
	lineOverTop = 6  // of a line, beside the text
)

// add takes in a message of so many tokens.
func (s *sayings) add(tokens int64) {
	whole, lines := s.last()
	if len(s.whole) == 2*maxSayings {
		s.dropped += maxSayings
		s.whole = append(s.whole[:0], s.whole[maxSayings:]...)
		s.lines = append(s.lines[:0], s.lines[maxSayings:]...)
	}
	s.whole = append(s.whole, whole+tokens)
	s.lines = append(s.lines, lines+min(tokens, lineTokens)+lineOverTop)
}

func (s *sayings) last() (whole, lines int64) {
	if n := len(s.whole); n > 0 {
		return s.whole[n-1], s.lines[n-1]
	}
	return 0, 0
}

// window returns the tokens of a window, and how many messages are only
// counted in it; false when it may reach back further than is known.
func (s *sayings) window(tokens, summary int64) (used int64, omitted int, ok bool) {
	n := len(s.whole)
	whole, lines := s.last()
	// before is the sum of all messages before the first that is taken
	before := func(sums []int64, i int) int64 {
		if i == 0 {
			return 0
		}
		return sums[i-1]
	}
	first := sort.Search(n, func(i int) bool { return whole-before(s.whole, i) <= tokens })
	if first > 0 && whole == before(s.whole, first) {
		first-- // one message is handed over whole, however long
	}
	if s.dropped > 0 && first == 0 {
		return 0, 0, false
	}
	used = whole - before(s.whole, first)
	said := lines - before(s.lines, first)
	start := sort.Search(first, func(i int) bool { return lines-before(s.lines, i)-said <= summary })
	if s.dropped > 0 && start == 0 {
		return 0, 0, false
	}
	return used + lines - before(s.lines, start) - said, s.dropped + start, true
}

// prompt is the estimate of what the seat would be handed now, in tokens.
func (p *point) prompt(who int) int {
	if p.h.chat != nil && !p.simulated {
		who = 0 // all alike
	}
	if p.prompts[who] == 0 {
		tokens, _ := p.window(who, p.state.Bounds)
		p.prompts[who] = 1 + int32(tokens)
	}
	return int(p.prompts[who]) - 1
}

// window returns the tokens of what the seat would be handed under bounds, and
// how many messages would only be counted.
func (p *point) window(who int, bounds room.Context) (tokens, omitted int) {
	if p.h.chat != nil && !p.simulated {
		if used, n, ok := p.sayings.window(int64(bounds.Tokens), int64(bounds.SummaryTokens)); ok {
			return int(used), n
		}
	}
	id := p.h.seats[who].id
	p.view = *p.state // the bounds of windows are all that differs
	p.view.Bounds = bounds
	w, ok := p.view.TryWindowFor(id)
	if !ok && p.lengthen() {
		p.view = *p.state
		p.view.Bounds = bounds
		w = p.view.WindowFor(id)
	}
	for _, o := range w.Omitted {
		omitted += o.Messages
	}
	return w.Tokens, omitted
}
