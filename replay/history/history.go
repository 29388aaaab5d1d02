package history

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A Choice is the result of a decision: the index of the seat that gets the
// turn, or one of the negative values below.
type Choice int16

// Choices without a speaker.
const (
	Declined Choice = -1 - iota
	Finished
	Failed // the policy returned no valid decision
)

// Speaks reports whether c gives a seat the turn.
func (c Choice) Speaks() bool { return c >= 0 }

// A Seat is a participant of a [History].
type Seat struct {
	ID       string
	Agent    bool // neither a person nor a tool
	Eligible bool // a policy may choose it
	Price    room.Price
}

// A History is an opened [Transcript]. It is walked by one goroutine at a time.
type History struct {
	Name   string
	Seats  []Seat // in the order in which they joined; of a conversation, in a random one
	Bids   int    // bids of agents so far in the log
	Labels []int  // seats that the source labels as addressees of the last message

	fields        map[string]float64
	index         map[string]int // of Seats, by ID
	merger        *merger        // nil for a room in which a policy decided
	conversation  bool
	log           iter.Seq2[room.Event, error]
	firstRedacted int64 // 0 when not yet known
	spending      []Spending
	stated        room.Usage // of the next message of a conversation
	granted       string     // that has the turn, while a walk adds up the spending
}

// Open reads t as far as a walk needs it. It returns nil, without an error, for
// a conversation with fewer than three participants or two merged turns.
func Open(t Transcript) (*History, error) {
	h := &History{Name: t.Name, fields: t.Fields, index: map[string]int{}}
	if t.Conversation != nil {
		h.merger = newMerger(t.Conversation)
	} else {
		h.log = t.events()
		m, err := newImportedMerger(t.Name, h.log)
		if err != nil {
			return nil, err
		}
		h.merger = m
	}
	if h.conversation = h.merger != nil; !h.conversation {
		return h, nil
	}
	if h.merger.empty() {
		return nil, nil
	}
	h.merger.order()
	h.log = h.merger.events(h.setLabels)
	for _, p := range h.merger.participants {
		h.add(Seat{ID: p.ID, Agent: p.Kind == KindAgent, Eligible: true})
	}
	return h, nil
}

// Conversation reports whether no policy decided in h, so that its decision
// points are its merged turns.
func (h *History) Conversation() bool { return h.conversation }

// SeatOf returns the index of the seat with that ID.
func (h *History) SeatOf(id string) (int, bool) {
	i, ok := h.index[id]
	return i, ok
}

// NameOf returns what reports call c: the ID of a participant, decline, finish
// or error.
func (h *History) NameOf(c Choice) string {
	switch c {
	case Declined:
		return "decline"
	case Finished:
		return "finish"
	case Failed:
		return "error"
	}
	return h.Seats[c].ID
}

// Mixed reports whether silence is a meaningful choice: a policy may decline,
// or there are both agents and other participants.
func (h *History) Mixed() bool {
	agent := func(s Seat) bool { return s.Agent }
	other := func(s Seat) bool { return !s.Agent }
	return !h.conversation || h.merger != nil && h.merger.silences.nobody || slices.ContainsFunc(h.Seats, agent) && slices.ContainsFunc(h.Seats, other)
}

// Events yields the log. An event whose sequence number is not the next ends it
// with an error.
func (h *History) Events() iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		want := int64(0)
		for e, err := range h.log {
			if want++; err == nil && e.Seq != want {
				err = fmt.Errorf("%s: event %d found where event %d belongs", h.Name, e.Seq, want)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Reread yields the log from its start without changing Labels, so that it can
// be read during a walk.
func (h *History) Reread() iter.Seq2[room.Event, error] {
	if h.merger != nil {
		return h.merger.events(func([]string, room.Usage) {})
	}
	return h.log
}

// FirstRedacted returns the sequence number of the first event whose text was
// redacted later, math.MaxInt64 for none. From there on the inputs of policies
// cannot be rebuilt.
func (h *History) FirstRedacted() (int64, error) {
	if h.firstRedacted != 0 {
		return h.firstRedacted, nil
	}
	first := int64(math.MaxInt64)
	for e, err := range h.Events() {
		if err != nil {
			return 0, err
		}
		if b, ok := e.Body.(room.Redacted); ok {
			first = min(first, b.Target)
		}
	}
	h.firstRedacted = first
	return first, nil
}

// Release drops the transcript. Names, seats and choices stay usable.
func (h *History) Release() { h.merger, h.log = nil, nil }

// join adds a participant of a room of moot.
func (h *History) join(p room.Participant) {
	if !h.conversation {
		agent := p.Kind != policy.Human
		h.add(Seat{ID: p.ID, Agent: agent, Eligible: agent, Price: p.Price})
	}
}

func (h *History) add(s Seat) {
	if _, ok := h.index[s.ID]; !ok {
		h.index[s.ID] = len(h.Seats)
		h.Seats = append(h.Seats, s)
	}
}

// setLabels notes the addressees and the usage that the source states for the next
// message.
func (h *History) setLabels(ids []string, u room.Usage) {
	h.stated = u
	h.Labels = h.Labels[:0]
	for _, id := range ids {
		if i, ok := h.index[id]; ok {
			h.Labels = append(h.Labels, i)
		}
	}
}
