package replay

import (
	"github.com/folkmoot/moot/room"
)

// budgets are the window budgets that the report compares, in tokens; 0 is
// no bound.
var budgets = [...]int{1000, 2000, 4000, 0}

// A window is what one participant was, or would have been, handed at its
// turns under one budget.
type window struct {
	who     string
	budget  int
	turns   int
	tokens  int64
	omitted int // messages that it would only have been told the count of
}

// recorded counts what truly happened, like a policy that is always right,
// and what each speaker was handed.
func (h *history) recorded() (*score, []window, error) {
	s := &score{chosen: make([]int, len(h.seats))}
	windows := make([]window, len(h.seats)*len(budgets))
	err := h.walk(func(p *point) error {
		s.chose(h, p, p.truth)
		s.sums[sReciprocal]++
		if !p.truth.speaks() {
			return nil
		}
		id := h.seats[p.truth].id
		s.handed(p.state.WindowFor(id).Tokens)
		for i, budget := range budgets {
			windows[int(p.truth)*len(budgets)+i].add(p.state, id, budget)
		}
		return nil
	})
	s.finish(h)
	return s, windows, err
}

// add counts what the participant would be handed now.
func (w *window) add(s *room.State, id string, budget int) {
	v := *s // the bounds of windows are all that differs
	if budget > 0 {
		v.Bounds.Tokens = budget
		v.Bounds.SummaryTokens = min(v.Bounds.SummaryTokens, budget/4)
	} else {
		const whole = 1 << 30
		v.Bounds = room.Context{Tokens: whole, SummaryTokens: whole, HistoryTurns: whole, HistoryChars: whole, LineChars: v.Bounds.LineChars}
	}
	got := v.WindowFor(id)
	w.who, w.budget = id, budget
	w.turns++
	w.tokens += int64(got.Tokens)
	for _, o := range got.Omitted {
		w.omitted += o.Messages
	}
}
