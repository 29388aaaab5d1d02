package history

import (
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// Input fills in with what a policy whose cursor is c gets at p, reusing the
// slices of in. In a recorded conversation all seats but the last speaker are
// eligible and no limit applies. At a recorded decision the seat that was asked is.
func (p *Point) Input(in *policy.Input, c room.PolicyCursor) error {
	if err := p.State.AppendInput(in, c, p.At, p.texts.text); err != nil {
		return err
	}
	if !p.recordedConversation() {
		return nil
	}
	for i := range in.Agents {
		a := &in.Agents[i]
		a.Eligible, a.Ineligible = true, ""
		switch {
		case p.Asked >= 0 && i != p.Asked:
			a.Eligible, a.Ineligible = false, "not asked"
		case p.Asked < 0 && i == p.Last:
			a.Eligible, a.Ineligible = false, "spoke last"
		}
	}
	in.Limits = policy.Limits{MaxTurns: -1, TurnsLeft: -1, TokensLeft: -1, MSLeft: -1}
	return nil
}

// Tokens estimates the prompt that the seat would get now, in tokens.
func (p *Point) Tokens(seat int) int {
	if p.recordedConversation() {
		seat = 0 // all windows are alike
	}
	if p.tokens[seat] == 0 {
		tokens, _ := p.Window(seat, p.State.Bounds)
		p.tokens[seat] = 1 + int32(tokens)
	}
	return int(p.tokens[seat]) - 1
}

// Window returns the size of the window that the seat would get under bounds,
// in tokens, and how many messages would only be counted in it.
func (p *Point) Window(seat int, bounds room.Context) (tokens, omitted int) {
	if p.recordedConversation() {
		if used, n, ok := p.sums.window(int64(bounds.Tokens), int64(bounds.SummaryTokens)); ok {
			return int(used), n
		}
	}
	id := p.History.Seats[seat].ID
	p.scratch = *p.State // differs in the bounds alone
	p.scratch.Bounds = bounds
	w, ok := p.scratch.TryWindowFor(id)
	if !ok && p.keepAll() {
		p.scratch = *p.State
		p.scratch.Bounds = bounds
		w = p.scratch.WindowFor(id)
	}
	for _, o := range w.Omitted {
		omitted += o.Messages
	}
	return w.Tokens, omitted
}

// WholeTokens is the size of the window that the seat would get without
// bounds: everything it may read or, for a seat that remembers, everything
// since its last turn.
func (p *Point) WholeTokens(seat int) int64 {
	s := p.State.Seats[seat]
	if !s.NeedsFullContext && s.Remembers {
		const unbounded = 1 << 30
		tokens, _ := p.Window(seat, room.Context{Tokens: unbounded, HistoryTurns: unbounded, HistoryChars: unbounded})
		return int64(tokens)
	}
	if seat < len(p.privateTokens) {
		return p.publicTokens + p.privateTokens[seat]
	}
	return p.publicTokens
}

// keepAll restores the messages that dropOldMessages dropped, and reports
// whether State changed. An error ends the walk. A simulation drops nothing.
func (p *Point) keepAll() bool {
	if p.whole || p.Simulated {
		return false
	}
	p.whole = true
	s := &room.State{}
	for e, err := range p.History.Reread() {
		if err != nil {
			p.err = err
			return false
		}
		if e.Seq > p.State.Seq {
			break
		}
		s.Apply(e)
	}
	p.State = s
	return true
}
