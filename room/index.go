package room

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"

	"github.com/folkmoot/moot/room/kinds"
)

// chunkLen is the number of elements in a full chunk.
const chunkLen = 512

// A packable element can be stored as its difference from the previous one
// (delta encoding). Snapshots hold hundreds of thousands of them.
type packable[T any] interface {
	pack(b []byte, before T) []byte
	// unpack decodes the element after before from the front of b and returns
	// the rest of b. ok is false when b does not begin with an element.
	unpack(b []byte, before T) (T, []byte, bool)
}

// A chunkedList is an append-only list in chunks. An append never moves elements,
// so that its cost does not depend on the length.
type chunkedList[T packable[T]] struct {
	C [][]T
	N int

	gone int // number of dropped elements, which preceded those in C
}

func (c *chunkedList[T]) push(v T) {
	if c.N == c.gone+len(c.C)*chunkLen {
		c.C = append(c.C, make([]T, 0, min(chunkLen, 16+c.N)))
	}
	last := &c.C[len(c.C)-1]
	*last = append(*last, v)
	c.N++
}

func (c *chunkedList[T]) at(i int) T {
	i -= c.gone
	return c.C[i/chunkLen][i%chunkLen]
}

// drop removes the chunks in which all elements are old, except the last chunk.
func (c *chunkedList[T]) drop(old func(T) bool) {
	n := 0
	for n < len(c.C)-1 && old(c.C[n][chunkLen-1]) {
		n++
	}
	c.C, c.gone = slices.Delete(c.C, 0, n), c.gone+n*chunkLen
}

// MarshalJSON writes the packed elements in base64.
func (c chunkedList[T]) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 4*c.N)
	var before T
	for _, chunk := range c.C {
		for _, v := range chunk {
			b = v.pack(b, before)
			before = v
		}
	}
	return json.Marshal(b)
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (c *chunkedList[T]) UnmarshalJSON(data []byte) error {
	var b []byte
	if err := json.Unmarshal(data, &b); err != nil {
		return err
	}
	*c = chunkedList[T]{}
	var v T
	for ok := true; len(b) > 0; {
		if v, b, ok = v.unpack(b, v); !ok {
			return errors.New("room: a packed list is damaged")
		}
		c.push(v)
	}
	return nil
}

// A messageIndex is the place of a message in State.Messages.
type messageIndex int32

func (p messageIndex) pack(b []byte, before messageIndex) []byte {
	return binary.AppendVarint(b, int64(p)-int64(before))
}

func (messageIndex) unpack(b []byte, before messageIndex) (messageIndex, []byte, bool) {
	d, n := binary.Varint(b)
	return before + messageIndex(d), b[max(n, 0):], n > 0
}

func (m indexEntry) pack(b []byte, before indexEntry) []byte {
	b = binary.AppendVarint(b, m.Seq-before.Seq)
	b = binary.AppendVarint(b, int64(m.Tokens))
	return binary.AppendVarint(b, int64(m.From))
}

func (indexEntry) unpack(b []byte, before indexEntry) (m indexEntry, rest []byte, ok bool) {
	var v [3]int64
	for i := range v {
		n := 0
		if v[i], n = binary.Varint(b); n <= 0 {
			return indexEntry{}, nil, false
		}
		b = b[n:]
	}
	return indexEntry{Seq: before.Seq + v[0], Tokens: int32(v[1]), From: int16(v[2])}, b, true
}

// index adds a message to the index: to Public if every participant may read it,
// else to the seats that may.
func (s *State) index(e Event, m Message, from *Seat) {
	sender := int16(-1)
	if from != nil {
		sender = from.Index
	}
	n := messageIndex(s.Messages.N)
	s.Messages.push(indexEntry{Seq: e.Seq, Tokens: int32(m.size()), From: sender})
	if Audience(m).All() {
		s.Public.push(n)
		s.Counts[sender+1]++
	} else {
		for _, x := range s.Seats {
			if Audience(m).Includes(x.ID) {
				x.Private.push(n)
				x.Counts[sender]++
			}
		}
	}
	s.follow(sender)
}

// An unread is a message in a seat's inbox.
type unread struct {
	Seq    int64
	Urgent bool
}

// maxInbox is the largest number of unread messages that are counted.
const maxInbox = 1000

// deliver counts a message as unread by the seats that it is addressed to, and one
// that opens the conversation by every agent. A message that is held is counted when
// it is released.
func (s *State) deliver(e Event, b MessagePosted) {
	for _, x := range s.Seats {
		to := x.receives(b.Message)
		toAll := b.Opening && b.Message.To == Broadcast && x.Driven()
		if (to || toAll) && b.HeldUntil == 0 && len(x.Inbox) < maxInbox {
			x.Inbox = append(x.Inbox[:len(x.Inbox):len(x.Inbox)], unread{e.Seq, kinds.Urgent(b.Message.Priority)})
		}
		if to {
			s.deliverTo(e, x, b)
		}
	}
}

// clearInbox removes the messages that the seat has been given with a window.
func (x *Seat) clearInbox(w Window) {
	x.Inbox = slices.DeleteFunc(slices.Clone(x.Inbox), func(m unread) bool {
		return m.Seq <= w.Through && !slices.Contains(w.Kept, m.Seq)
	})
}

// urgentWaits reports whether an urgent message waits for the seat.
func (x *Seat) urgentWaits() bool {
	return slices.ContainsFunc(x.Inbox, func(m unread) bool { return m.Urgent })
}

// countUnread returns the number of messages in the inbox and of urgent ones.
func (x *Seat) countUnread() (all, urgent int) {
	for _, w := range x.Inbox {
		if w.Urgent {
			urgent++
		}
	}
	return len(x.Inbox), urgent
}

// follow counts which speaker followed the last one and the last two.
func (s *State) follow(sender int16) {
	if sender < 0 || sender+1 == s.Speakers[0] {
		return
	}
	if s.Speakers[0] != 0 {
		s.Followed[followKey(0, s.Speakers[0], sender)]++
	}
	if s.Speakers[1] != 0 && len(s.Followed) < maxFollowed {
		s.Followed[followKey(s.Speakers[1], s.Speakers[0], sender)]++
	}
	s.Speakers = [2]int16{sender + 1, s.Speakers[0]}
}

// maxFollowed is the largest number of entries in State.Followed.
const maxFollowed = 1 << 14

func followKey(before, last, next int16) uint64 {
	return uint64(uint16(before))<<32 | uint64(uint16(last))<<16 | uint64(uint16(next+1))
}

// backwards yields the messages that x may read, newest first. After
// [State.Shorten] it ends at the oldest message that is left.
func (s *State) backwards(x *Seat, yield func(indexEntry) bool) {
	i, j := s.Public.N-1, x.Private.N-1
	for i >= s.Public.gone || j >= x.Private.gone {
		var n messageIndex
		if j < x.Private.gone || i >= s.Public.gone && s.Public.at(i) > x.Private.at(j) {
			n = s.Public.at(i)
			i--
		} else {
			n = x.Private.at(j)
			j--
		}
		if int(n) < s.Messages.gone || !yield(s.Messages.at(int(n))) {
			return
		}
	}
}

// readableTotal returns the number of messages that x may read.
func (s *State) readableTotal(x *Seat) int {
	n := 0
	for i := -1; i < len(s.Seats); i++ {
		n += s.readable(x, int16(i))
	}
	return n
}

// readable returns the number of messages of a sender that x may read.
func (s *State) readable(x *Seat, sender int16) int {
	return int(x.Counts[sender]) + int(s.Counts[sender+1])
}

// Shorten drops the index entries of old messages and keeps the newest keep
// messages and up to a chunk more. [State.TryWindowFor] tells when a window would
// need a dropped entry. A shortened state must not become a snapshot. It is for
// callers that can read the log again, such as replay.
func (s *State) Shorten(keep int) {
	if s.Messages.N <= keep {
		return
	}
	first := s.Messages.at(max(s.Messages.N-keep, s.Messages.gone)).Seq
	s.Messages.drop(func(m indexEntry) bool { return m.Seq < first })
	old := func(p messageIndex) bool { return int(p) < s.Messages.gone }
	s.Public.drop(old)
	for _, x := range s.Seats {
		x.Private.drop(old)
	}
}

// An indexEntry is what the state keeps of a message permanently.
type indexEntry struct {
	Seq    int64
	Tokens int32
	From   int16 // seat; -1 for the host
}
