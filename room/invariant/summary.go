package invariant

import (
	"slices"
	"time"

	"github.com/folkmoot/moot/room"
)

// A summary is what the checks need of the state before an event.
type summary struct {
	scalars
	seats []seatSummary
}

// scalars are the parts of a summary that can be compared.
type scalars struct {
	seq               int64
	phase             room.Phase
	ending            room.Ending
	tally             room.Tally
	limits            room.Limits
	turn              int // number of the open turn, 0 for none
	draft             string
	requests          int // permission requests that wait
	policy            string
	decision          int64
	bids              int
	retryAt           time.Duration
	calls, called     int
	deliveries, dead  int
	texts, recentNews int64
}

// A seatSummary is what the checks need of a seat before an event.
type seatSummary struct {
	standing   room.Standing
	takenBy    string
	set        room.Mode
	presence   room.Presence
	starting   int64
	cursor     int64
	mailCursor int64
	spent      int64
	failures   int
	violations int
	turns      int
	inbox      int
}

// take fills m from s.
func (m *summary) take(s *room.State) {
	m.scalars = scalars{
		seq: s.Seq, phase: s.Phase, ending: s.Ending, tally: s.Tally, limits: s.Limits, policy: s.Policy.Ref.Name, decision: s.Policy.Decision,
		bids: len(s.Bids), retryAt: s.RetryAt, calls: len(s.Calls), called: s.Called, deliveries: len(s.Mail.Deliveries.All), dead: s.Mail.DeadCount,
		texts: int64(len(s.Texts)), recentNews: s.LastNews,
	}
	if t := s.Turn; t != nil {
		m.turn, m.requests = t.Number, len(t.Requests)
		if t.Draft != nil {
			m.draft = t.Draft.Hash
		}
	}
	m.seats = m.seats[:0]
	for _, x := range s.Seats {
		m.seats = append(m.seats, seatSummary{
			standing: x.Standing, takenBy: x.TakenBy, set: x.SetMode, presence: x.Presence, starting: x.Starting, cursor: x.Cursor,
			mailCursor: s.Mail.Deliveries.Cursor(x.ID), spent: x.Spent, failures: x.Failures, violations: x.Violations, turns: x.Turns, inbox: len(x.Inbox),
		})
	}
}

// same reports whether two summaries are equal.
func (m *summary) same(o *summary) bool {
	return m.scalars == o.scalars && slices.Equal(m.seats, o.seats)
}
