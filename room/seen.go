package room

// seenIDs is how many ids of commands and messages a room remembers.
const seenIDs = 10_000

// seen remembers the newest ids and where their events ended.
type seen struct {
	At    map[string]int64
	Order []string
	Said  map[string]uint64 // of the ids of messages: what was said; see Message.said
	Next  int               // the slot of Order that is overwritten next, once it is full
}

func (m *seen) add(id string, seq int64) {
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
		delete(m.Said, m.Order[m.Next])
		m.Order[m.Next] = id
		m.Next = (m.Next + 1) % seenIDs
	}
	m.At[id] = seq
}

// say notes what the message with id said.
func (m *seen) say(id string, said uint64) {
	if id == "" {
		return
	}
	if m.Said == nil {
		m.Said = map[string]uint64{}
	}
	m.Said[id] = said
}

func (m *seen) has(id string) bool {
	_, ok := m.At[id]
	return id != "" && ok
}
