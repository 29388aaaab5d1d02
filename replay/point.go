package replay

import (
	"cmp"
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

// nameOf returns what the report calls a.
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
	h      *history
	n      int         // from 1
	state  *room.State // the fold of all before it; only to be read
	at     time.Duration
	truth  answer
	event  *room.Event // that tells the truth
	record *policy.Record
	last   int   // seat that spoke last; -1 for nobody of the roster
	when   []int // by seat: how late it last spoke; 0 for never
	named  []int // seats that the last message addresses
	tail   *tail
	habits *habits // nil when nobody asks for them

	mixed      bool    // whether silence has a meaning
	simulated  bool    // nothing is known of the truth
	candidates []int   // seats that may be chosen
	prompts    []int32 // by seat: tokens that it would be handed, plus one; 0 for not yet known
	sayings    sayings // of a talk
	public     int64   // tokens of all messages for everybody
	private    []int64 // by seat: of the others that it may read
	view       room.State
	long       bool  // the state is kept whole
	failed     error // why it could not be made whole
}

// newPoint returns the point before the first.
func newPoint(h *history, most int) *point {
	p := &point{h: h, state: &room.State{}, last: -1, tail: &tail{most: most}}
	if c := h.chat; c != nil {
		n := min(c.merged, policy.MaxEvents)
		p.tail.ring, p.sayings.whole, p.sayings.lines = make([]spoken, 0, n), make([]int64, 0, n), make([]int64, 0, n)
	}
	return p
}

// walk folds the history and visits its decision points in order. most is how
// much of a text is kept for inputs, 0 for all; habits is nil, or what is to
// follow the conversation for rules that look at it.
func (h *history) walk(most int, k *habits, visit func(*point) error) error {
	p := newPoint(h, most)
	p.habits, p.mixed = k, h.mixed()
	var e room.Event // one for all: a point refers to it
	var err error
	for e, err = range h.events() {
		if err != nil {
			return err
		}
		if p.decides(&e) {
			p.n++
			p.open()
			if err := cmp.Or(visit(p), p.failed); err != nil {
				return err
			}
		}
		p.apply(&e)
	}
	return nil
}

// apply takes e into the fold.
func (p *point) apply(e *room.Event) {
	p.state.Apply(*e)
	p.shorten()
	if b, ok := e.Body.(room.Joined); ok {
		p.h.join(b.Participant)
		if c := p.h.chat; c != nil && !p.simulated && len(p.state.Seats) == len(c.people) {
			p.state.UseNames(c.names())
		}
	}
	p.tail.keep(e)
	p.said(e)
}

// decides reports whether e tells what happened at a decision point, and
// notes it in p.
func (p *point) decides(e *room.Event) bool {
	p.event, p.record, p.at = e, room.RecordOf(*e), e.Clock
	if p.record != nil {
		p.at = time.Duration(p.record.AskedAtMS) * time.Millisecond
	}
	switch b := e.Body.(type) {
	case room.TurnGranted:
		who, ok := p.h.index[b.Participant]
		p.truth = answer(who)
		return ok && (p.record != nil || p.h.chat != nil && p.last >= 0)
	case room.RoundDeclined:
		p.truth = declined
		return true
	case room.Completed:
		p.truth = finished
		return p.record != nil
	}
	return false
}

// open finds out who may be chosen: in a talk everybody but the last speaker.
func (p *point) open() {
	p.candidates = p.candidates[:0]
	for i, x := range p.state.Seats {
		talk := p.h.chat != nil && !p.simulated
		if talk && i != p.last || !talk && p.state.Ineligible(x) == "" {
			p.candidates = append(p.candidates, i)
		}
	}
	for len(p.when) < len(p.h.seats) {
		p.when = append(p.when, 0)
	}
	if len(p.prompts) < len(p.h.seats) {
		p.prompts = make([]int32, len(p.h.seats))
	} else {
		clear(p.prompts)
	}
}

// said notes who spoke and whom it addressed.
func (p *point) said(e *room.Event) {
	b, ok := e.Body.(room.MessagePosted)
	if !ok {
		return
	}
	h := p.h
	for len(p.when) < len(h.seats) {
		p.when = append(p.when, 0)
	}
	p.hear(&b.Message)
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
	if p.habits != nil {
		p.habits.said(p, &b.Message)
	}
}

// hear adds up what each seat may read.
func (p *point) hear(m *room.Message) {
	tokens := int64(len(m.Text)+3) / 4
	readers := room.Audience(*m)
	if readers.All() {
		p.public += tokens
		if p.h.chat != nil && !p.simulated {
			p.sayings.add(tokens)
		}
		return
	}
	for i, x := range p.h.seats {
		for len(p.private) <= i {
			p.private = append(p.private, 0)
		}
		if readers.Includes(x.id) {
			p.private[i] += tokens
		}
	}
}

// heard is how many tokens the seat may read in all.
func (p *point) heard(who int) int64 {
	if who < len(p.private) {
		return p.public + p.private[who]
	}
	return p.public
}

// bar makes everybody but the last speaker eligible, as it was in a talk.
func (p *point) bar(in *policy.Input) {
	for i := range in.Agents {
		a := &in.Agents[i]
		a.Eligible, a.Ineligible = true, ""
		if i == p.last {
			a.Eligible, a.Ineligible = false, "spoke last"
		}
	}
	in.Limits = policy.Limits{MaxTurns: -1, TurnsLeft: -1, TokensLeft: -1, MSLeft: -1}
}
