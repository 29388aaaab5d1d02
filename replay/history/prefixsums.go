package history

import "sort"

// windowSums holds prefix sums over the messages of a conversation, from which
// the size of a window follows by binary search. This works because in a
// conversation every message is public and no participant has a cursor, so
// that all windows are alike. TestWindowSums compares it with
// [room.State.WindowFor].
type windowSums struct {
	whole   []int64 // tokens of all messages up to each
	lines   []int64 // tokens of their summary lines
	dropped int     // oldest messages that are no longer kept
}

const (
	// maxSums bounds the messages that are kept. No window of usual bounds
	// reaches further back; for one that does the room is asked.
	maxSums = 8192

	lineTokens         = 30 // of the text of a summary line, at most
	lineOverheadTokens = 6
)

// add appends a message of so many tokens.
func (s *windowSums) add(tokens int64) {
	whole, lines := s.totals()
	if len(s.whole) == 2*maxSums {
		s.dropped += maxSums
		s.whole = append(s.whole[:0], s.whole[maxSums:]...)
		s.lines = append(s.lines[:0], s.lines[maxSums:]...)
	}
	s.whole = append(s.whole, whole+tokens)
	s.lines = append(s.lines, lines+min(tokens, lineTokens)+lineOverheadTokens)
}

func (s *windowSums) totals() (whole, lines int64) {
	if n := len(s.whole); n > 0 {
		return s.whole[n-1], s.lines[n-1]
	}
	return 0, 0
}

// window returns the tokens of a window with a budget of tokens for whole
// messages and one for summary lines, and the number of messages that are only
// counted in it. It returns false when the window may reach back further than
// the kept messages.
func (s *windowSums) window(tokens, summary int64) (used int64, omitted int, ok bool) {
	whole, lines := s.totals()
	before := func(sums []int64, i int) int64 { // sum of the messages before index i
		if i == 0 {
			return 0
		}
		return sums[i-1]
	}
	first := sort.Search(len(s.whole), func(i int) bool { return whole-before(s.whole, i) <= tokens })
	if first > 0 && whole == before(s.whole, first) {
		first-- // the newest message is included whole, however long
	}
	if s.dropped > 0 && first == 0 {
		return 0, 0, false
	}
	used = whole - before(s.whole, first)
	later := lines - before(s.lines, first)
	start := sort.Search(first, func(i int) bool { return lines-before(s.lines, i)-later <= summary })
	if s.dropped > 0 && start == 0 {
		return 0, 0, false
	}
	return used + lines - before(s.lines, start) - later, s.dropped + start, true
}
