package replay

import (
	"encoding/binary"
	"hash/fnv"
	"iter"

	"github.com/folkmoot/moot/replay/history"
)

// A sample is a set of decision points. All points, in the order of the transcripts, are
// divided into so many intervals of equal length as the sample has points, and of each
// interval one point is drawn by a hash of its number. So the sample is stratified by
// transcript, in proportion to the number of its points, and the same every time.
// Drawing avoids that a period of the conversation, such as two speakers in turn,
// meets the length of the intervals.
type sample struct {
	size, of int
	before   []int // by transcript: the points of those before it; then of all
}

// newSample counts the decision points of the transcripts.
func newSample(size int, transcripts iter.Seq2[history.Transcript, error]) (*sample, error) {
	s := &sample{size: size}
	for t, err := range transcripts {
		if err != nil {
			return nil, err
		}
		n, err := history.Points(t)
		if err != nil {
			return nil, err
		}
		s.before = append(s.before, s.of)
		s.of += n
	}
	s.before = append(s.before, s.of)
	s.size = min(s.size, s.of)
	return s, nil
}

// lead is how many decisions before one of the sample the policies make too, so that
// those with a state know the latest turns as they would in a room.
const lead = 20

// asked returns at which decision points of a transcript the policies are asked, and
// which of these count, by their number from 1. Both are nil if all are.
func (s *sample) asked(transcript int) (asked, counted func(n int) bool) {
	if s == nil || s.size == s.of {
		return nil, nil
	}
	within := func(n, ahead int) bool {
		if transcript+1 >= len(s.before) { // the source has grown since it was counted
			return false
		}
		at := s.before[transcript] + n - 1
		next := s.next(at)
		return next-at <= ahead && next < s.before[transcript+1]
	}
	return func(n int) bool { return within(n, lead) }, func(n int) bool { return within(n, 0) }
}

// next returns the first point of the sample that is not before n; all points count
// from 0. It returns s.of after the last one.
func (s *sample) next(n int) int {
	if n >= s.of {
		return s.of
	}
	interval := int(int64(n) * int64(s.size) / int64(s.of))
	if at := s.drawn(interval); at >= n {
		return at
	}
	return s.drawn(interval + 1)
}

// drawn returns the point of an interval.
func (s *sample) drawn(interval int) int {
	if interval == s.size {
		return s.of
	}
	first, end := s.start(interval), s.start(interval+1)
	f := fnv.New64a()
	_, _ = f.Write(binary.BigEndian.AppendUint64(nil, uint64(interval))) // never fails
	return first + int(f.Sum64()>>1%uint64(end-first))
}

// start returns the first point of an interval.
func (s *sample) start(interval int) int {
	return int((int64(interval)*int64(s.of) + int64(s.size) - 1) / int64(s.size))
}
