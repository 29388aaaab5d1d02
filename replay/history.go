package replay

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A history is a transcript made ready: the log of a room, and who is in it.
// It is walked by one goroutine at a time and holds nothing that grows with
// the length of the log.
type history struct {
	name   string
	chat   *chat // from elsewhere: every grant but the first is a decision point
	log    iter.Seq2[room.Event, error]
	seats  []seat // in the order of the room's own
	index  map[string]int
	labels []int // seats that the source says the last message is to
	gone   int64 // first event that has been redacted since; 0 when not known
}

// A seat is a participant for the purposes of figures.
type seat struct {
	id    string
	agent bool // neither a person nor a tool
	may   bool // may be chosen
	rank  int  // place in byte order of ids
	price room.Price
}

// history returns t ready for a walk, or nil when there is nothing to decide.
func (t Transcript) history() (*history, error) {
	h := &history{name: t.Name, index: map[string]int{}}
	if t.Talk != nil {
		h.chat = t.Talk.chat()
	} else {
		h.log = t.events()
		c, err := survey(t.Name, h.log)
		if err != nil {
			return nil, err
		}
		h.chat = c
	}
	if h.chat == nil {
		return h, nil
	}
	if h.chat.empty() {
		return nil, nil
	}
	h.chat.order()
	h.log = h.chat.events(h.labelled)
	for _, p := range h.chat.people {
		h.sit(seat{id: p.ID, agent: p.Kind == KindAgent, may: true})
	}
	h.order()
	return h, nil
}

func (h *history) sit(s seat) {
	if _, ok := h.index[s.id]; !ok {
		h.index[s.id] = len(h.seats)
		h.seats = append(h.seats, s)
	}
}

// join adds a seat of a room of moot.
func (h *history) join(p room.Participant) {
	if h.chat == nil {
		driven := p.Kind != policy.Human
		h.sit(seat{id: p.ID, agent: driven, may: driven, price: p.Price})
		h.order()
	}
}

func (h *history) order() {
	byID := make([]int, len(h.seats))
	for i := range byID {
		byID[i] = i
	}
	slices.SortFunc(byID, func(a, b int) int { return cmp.Compare(h.seats[a].id, h.seats[b].id) })
	for rank, i := range byID {
		h.seats[i].rank = rank
	}
}

// mixed reports whether silence has a meaning: somebody may speak whom no
// policy can choose, or policies may decline.
func (h *history) mixed() bool {
	return h.chat == nil || h.has(true) && h.has(false)
}

func (h *history) has(agent bool) bool {
	return slices.ContainsFunc(h.seats, func(s seat) bool { return s.agent == agent })
}

// labelled notes whom the source says the next message is to.
func (h *history) labelled(ids []string) {
	h.labels = h.labels[:0]
	for _, id := range ids {
		if who, ok := h.index[id]; ok {
			h.labels = append(h.labels, who)
		}
	}
}

// again yields the log from its start, for somebody who reads it beside a walk:
// whom the source says a message is to is not noted.
func (h *history) again() iter.Seq2[room.Event, error] {
	if c := h.chat; c != nil {
		return c.events(func([]string) {})
	}
	return h.log
}

// events yields the log, and refuses one with a gap.
func (h *history) events() iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		place := int64(0)
		for e, err := range h.log {
			if place++; err == nil && e.Seq != place {
				err = fmt.Errorf("%s: event %d stands in place %d", h.name, e.Seq, place)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
