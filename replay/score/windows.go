package score

import "github.com/folkmoot/moot/replay/history"

// budgets are the window budgets that reports compare, in tokens; 0 is
// unbounded.
var budgets = [...]int{1000, 2000, 4000, 0}

// A SeatWindows is the size of the windows of one participant at its turns.
type SeatWindows struct {
	Participant string   `json:"participant"`
	Turns       int      `json:"turns"`
	Budgets     []Budget `json:"budgets"`
}

// A Budget is the sum over windows of at most so many tokens; 0 is unbounded.
type Budget struct {
	Budget  int   `json:"budget"`
	Tokens  int64 `json:"tokens"`
	Omitted int   `json:"omitted"` // messages that would only have been counted
}

// addWindows counts the windows that the recorded speaker would get at p.
func (r *Run) addWindows(p *history.Point) {
	if !p.Truth.Speaks() {
		return
	}
	seat := int(p.Truth)
	for len(r.windows) <= seat {
		r.windows = append(r.windows, SeatWindows{Budgets: make([]Budget, len(budgets))})
	}
	s := &r.windows[seat]
	s.Participant = p.History.Seats[seat].ID
	s.Turns++
	for i, budget := range budgets {
		b := &s.Budgets[i]
		b.Budget = budget
		if budget == 0 {
			b.Tokens += p.WholeTokens(seat)
			continue
		}
		bounds := p.State.Bounds
		bounds.Tokens = budget
		bounds.SummaryTokens = min(bounds.SummaryTokens, budget/4)
		tokens, omitted := p.Window(seat, bounds)
		b.Tokens += int64(tokens)
		b.Omitted += omitted
	}
}
