package postgres

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/folkmoot/moot/room/log"
)

// A tail is a row of moot_rooms.
type tail struct {
	id      int64 // 0 before it is stored
	name    string
	last    int64
	hash    [32]byte
	updated int64 // Unix nanoseconds
	wake    int64 // Unix nanoseconds; 0 for never
	bytes   int64
}

// columnsOfRoom are those that scannedTail reads.
const columnsOfRoom = "r.id, r.name, r.last, r.hash, r.updated, r.wake, r.bytes, r.sum"

// A scannedTail is a row of moot_rooms as it is stored.
type scannedTail struct {
	tail
	chain, sum []byte
}

// fields are what rows are scanned into.
func (s *scannedTail) fields() []any {
	return []any{&s.id, &s.name, &s.last, &s.chain, &s.updated, &s.wake, &s.bytes, &s.sum}
}

// checked returns the tail; the error is of a damaged row.
func (s *scannedTail) checked() (tail, error) {
	t := s.tail
	whole := len(s.chain) == len(t.hash)
	if whole {
		t.hash = [32]byte(s.chain)
	}
	if want := t.sum(); !whole || string(want[:]) != string(s.sum) {
		return t, log.Corrupt(t.name, 0, "its row in the index is damaged")
	}
	return t, nil
}

// sum guards the row: eight bytes of a hash over all of it but the id.
func (t *tail) sum() [8]byte {
	b := make([]byte, 0, 128)
	for _, n := range []int64{t.last, t.updated, t.wake, t.bytes} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	b = append(append(b, t.hash[:]...), t.name...)
	h := sha256.Sum256(b)
	return [8]byte(h[:])
}

// pos is the place of the last event.
func (t *tail) pos() log.Pos { return log.Pos{Seq: uint64(t.last), Tok: uint64(t.last)} }

// maxKnown bounds how many tails a handle keeps.
const maxKnown = 16384

// tails are the rows of rooms as this handle has written them. They save a read before each
// append; the compare-and-set finds an old one.
type tails struct {
	mu    sync.Mutex
	known map[string]tail
}

func (k *tails) of(name string) (tail, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, ok := k.known[name]
	return t, ok
}

func (k *tails) keep(t tail) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil || len(k.known) >= maxKnown {
		k.known = map[string]tail{}
	}
	k.known[t.name] = t
}

func (k *tails) forget(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.known, name)
}
