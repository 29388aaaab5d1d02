package replay

import (
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// An answer is what was, or would be, done at a decision point: the seat that
// got the floor, or one of the others below.
type answer int16

const (
	declined answer = -1 - iota
	finished
	failed // the policy gave no decision
)

func (a answer) speaks() bool { return a >= 0 }

// name returns what the report calls a.
func (h *history) nameOf(a answer) string {
	switch a {
	case declined:
		return "decline"
	case finished:
		return "finish"
	case failed:
		return "error"
	}
	return h.seats[a].id
}

// A point is where a policy is asked.
type point struct {
	n      int         // from 1
	state  *room.State // the fold of all before it; only to be read
	at     time.Duration
	truth  answer
	event  *room.Event // that tells the truth
	record *policy.Record
	last   int   // seat that spoke last; -1 for nobody of the roster
	when   []int // by seat: how late it last spoke; 0 for never
	named  []int // seats that the last message addresses
}

// walk folds the history and visits its decision points in order.
func (h *history) walk(visit func(*point) error) error {
	s := &room.State{}
	p := point{state: s, last: -1, when: make([]int, len(h.seats))}
	for i := range h.events {
		e := &h.events[i]
		if h.decides(e, &p) {
			p.n++
			if err := visit(&p); err != nil {
				return err
			}
		}
		s.Apply(*e)
		h.said(e, &p)
	}
	return nil
}

// decides reports whether e tells what happened at a decision point, and
// notes it in p.
func (h *history) decides(e *room.Event, p *point) bool {
	p.event, p.record, p.at = e, room.RecordOf(*e), e.Clock
	if p.record != nil {
		p.at = time.Duration(p.record.AskedAtMS) * time.Millisecond
	}
	switch b := e.Body.(type) {
	case room.TurnGranted:
		who, ok := h.index[b.Participant]
		p.truth = answer(who)
		return ok && (p.record != nil || h.talk && p.last >= 0)
	case room.RoundDeclined:
		p.truth = declined
		return true
	case room.Completed:
		p.truth = finished
		return p.record != nil
	}
	return false
}

// said notes who spoke and whom it addressed.
func (h *history) said(e *room.Event, p *point) {
	b, ok := e.Body.(room.MessagePosted)
	if !ok {
		return
	}
	p.last = -1
	if who, ok := h.index[b.Message.From]; ok {
		p.last = who
		p.when[who] = int(e.Seq)
	}
	p.named = p.named[:0]
	if who, ok := h.index[b.Message.To]; ok {
		p.named = append(p.named, who)
	}
	for _, id := range b.Message.Addressed {
		if who, ok := h.index[id]; ok {
			p.named = append(p.named, who)
		}
	}
}

// open makes everybody but the last speaker eligible, as it was in a talk.
func (h *history) open(in *policy.Input, p *point) {
	for i := range in.Agents {
		a := &in.Agents[i]
		a.Eligible, a.Ineligible = true, ""
		if h.index[a.ID] == p.last {
			a.Eligible, a.Ineligible = false, "spoke last"
		}
	}
	in.Limits = policy.Limits{MaxTurns: -1, TurnsLeft: -1, TokensLeft: -1, MSLeft: -1}
}
