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

// handed adds up what each speaker was, or would have been, handed.
type handed struct {
	windows []window // by seat and budget
}

// add counts what who got the floor would be handed now.
func (x *handed) add(p *point) {
	if !p.truth.speaks() {
		return
	}
	who := int(p.truth)
	if more := len(p.h.seats)*len(budgets) - len(x.windows); more > 0 {
		x.windows = append(x.windows, make([]window, more)...)
	}
	for i, budget := range budgets {
		w := &x.windows[who*len(budgets)+i]
		w.who, w.budget = p.h.seats[who].id, budget
		w.turns++
		w.add(p, who)
	}
}

func (w *window) add(p *point, who int) {
	if w.budget == 0 {
		w.tokens += p.whole(who)
		return
	}
	bounds := p.state.Bounds
	bounds.Tokens = w.budget
	bounds.SummaryTokens = min(bounds.SummaryTokens, w.budget/4)
	tokens, omitted := p.window(who, bounds)
	w.tokens += int64(tokens)
	w.omitted += omitted
}

// whole is what the seat would be handed without bounds, in tokens: all that it
// may read or, when it remembers, all of that since its last turn.
func (p *point) whole(who int) int64 {
	x := p.state.Seats[who]
	if !x.NeedsFullContext && x.Remembers {
		const bound = 1 << 30
		tokens, _ := p.window(who, room.Context{Tokens: bound, HistoryTurns: bound, HistoryChars: bound})
		return int64(tokens)
	}
	return p.heard(who)
}
