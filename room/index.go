package room

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
)

// chunkLen is how many elements a chunk holds.
const chunkLen = 512

// A packable element has a short form: what it differs in from the one before
// it. Snapshots hold hundreds of thousands of them.
type packable[T any] interface {
	pack(b []byte, before T) []byte
	// unpack is given the element before it, and what is left to read; it
	// returns what is left then, or nil and false when that is no element.
	unpack(b []byte, before T) (T, []byte, bool)
}

// chunkedList is a list that only grows. Growing never moves what it holds, so an
// append costs the same at the hundredth and the millionth element.
type chunkedList[T packable[T]] struct {
	C [][]T
	N int

	gone int // elements that were dropped, all of them older than those in C
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

// drop drops the chunks in which all are old, but for the last.
func (c *chunkedList[T]) drop(old func(T) bool) {
	n := 0
	for n < len(c.C)-1 && old(c.C[n][chunkLen-1]) {
		n++
	}
	c.C, c.gone = slices.Delete(c.C, 0, n), c.gone+n*chunkLen
}

// MarshalJSON writes the elements packed, in base64.
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

// UnmarshalJSON reads what MarshalJSON wrote.
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

// messageIndex is where in Messages a message is.
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

// index files a message: under everybody when everybody may read it, else
// under each seat that may.
func (s *State) index(e Event, m Message, from *Seat) {
	sender := int16(-1)
	if from != nil {
		sender = from.Index
	}
	n := messageIndex(s.Messages.N)
	s.Messages.push(indexEntry{Seq: e.Seq, Tokens: int32(estimate(m.Text)), From: sender})
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

// unread is a message in a seat's inbox.
type unread struct {
	Seq    int64
	Urgent bool
}

// maxInbox bounds what is counted as unread.
const maxInbox = 1000

// deliver counts a message as unread by the seat that it is addressed to.
func (s *State) deliver(e Event, m Message) {
	if x := s.seat(m.To); x != nil && len(x.Inbox) < maxInbox {
		x.Inbox = append(x.Inbox[:len(x.Inbox):len(x.Inbox)], unread{e.Seq, m.Priority == "high" || m.Priority == "urgent"})
	}
}

// clearInbox empties the inbox of what the seat was handed.
func (x *Seat) clearInbox(through int64) {
	i := 0
	for i < len(x.Inbox) && x.Inbox[i].Seq <= through {
		i++
	}
	x.Inbox = x.Inbox[i:]
}

// countUnread counts the inbox, and of it what is urgent.
func (x *Seat) countUnread() (all, urgent int) {
	for _, w := range x.Inbox {
		if w.Urgent {
			urgent++
		}
	}
	return len(x.Inbox), urgent
}

// follow counts who spoke after the last speaker and after the last two.
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

// maxFollowed bounds the table of who follows whom.
const maxFollowed = 1 << 14

func followKey(before, last, next int16) uint64 {
	return uint64(uint16(before))<<32 | uint64(uint16(last))<<16 | uint64(uint16(next+1))
}

// backwards yields the messages that x may read, newest first, as far as s knows
// of them: see Shorten.
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

// readableTotal is how many messages x may read in all.
func (s *State) readableTotal(x *Seat) int {
	n := 0
	for i := -1; i < len(s.Seats); i++ {
		n += s.readable(x, int16(i))
	}
	return n
}

// readable is how many messages of a sender x may read in all.
func (s *State) readable(x *Seat, sender int16) int {
	return int(x.Counts[sender]) + int(s.Counts[sender+1])
}

// Shorten drops what s knows of the oldest messages: of each it keeps twenty
// bytes for ever, so that windows may reach back to it. The newest keep, and up
// to a chunk more, are kept. A window that would reach back further is not what
// it was; [State.WindowWithin] tells. A state that was shortened must not become
// a snapshot: it is for who can read the log again, as replay does.
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

// indexEntry is what remains of a message for ever.
type indexEntry struct {
	Seq    int64
	Tokens int32
	From   int16 // seat; -1 for the host
}
