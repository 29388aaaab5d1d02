package room

import (
	"github.com/folkmoot/moot/policies/policy"
)

// Limits of the texts that a state holds.
const (
	recentEvents = policy.MaxEvents
	recentBytes  = 32 << 10
)

// recent holds the newest events as policies see them. At most recentEvents of
// them, with recentBytes in all, have their text.
type recent struct {
	Events []policy.Event
	Texts  int // index of the first event whose text is kept
	Bytes  int // of the texts kept
}

func (r *recent) push(e policy.Event) {
	if len(r.Events) >= 2*recentEvents {
		n := len(r.Events) - recentEvents
		kept := copy(r.Events, r.Events[n:])
		clear(r.Events[kept:])
		r.Events = r.Events[:kept]
		r.Texts = max(0, r.Texts-n)
	}
	r.Events = append(r.Events, e)
	r.Bytes += len(e.Text)
	for r.Texts < len(r.Events) && (r.Bytes > recentBytes || len(r.Events)-r.Texts > recentEvents) {
		r.Bytes -= len(r.Events[r.Texts].Text)
		r.Events[r.Texts].Text = ""
		r.Texts++
	}
}

// after returns at most n of the events after seq, the newest, and whether it
// left out others.
func (r *recent) after(seq int64, n int) (evs []policy.Event, cut bool) {
	i := len(r.Events)
	for i > 0 && r.Events[i-1].Seq > seq && len(r.Events)-i < n {
		i--
	}
	cut = i > 0 && r.Events[i-1].Seq > seq
	return r.Events[i:], cut
}

// seenIDs is the number of ids of commands and messages that a room remembers.
const seenIDs = 10_000

// An idSet remembers the newest ids and the seq of their last event, in a ring.
type idSet struct {
	At      map[string]int64
	Order   []string
	Content map[string]uint64 `json:"Said"` // contentHash of each message, by its id
	Next    int               // index in Order that is overwritten next, once it is full
}

func (m *idSet) add(id string, seq int64) {
	if id == "" {
		return
	}
	if _, ok := m.At[id]; ok {
		m.At[id] = seq
		return
	}
	if m.At == nil {
		m.At = map[string]int64{}
	}
	if len(m.Order) < seenIDs {
		m.Order = append(m.Order, id)
	} else {
		delete(m.At, m.Order[m.Next])
		delete(m.Content, m.Order[m.Next])
		m.Order[m.Next] = id
		m.Next = (m.Next + 1) % seenIDs
	}
	m.At[id] = seq
}

// addContent stores the content hash of the message with id.
func (m *idSet) addContent(id string, said uint64) {
	if id == "" {
		return
	}
	if m.Content == nil {
		m.Content = map[string]uint64{}
	}
	m.Content[id] = said
}

func (m *idSet) has(id string) bool {
	_, ok := m.At[id]
	return id != "" && ok
}
