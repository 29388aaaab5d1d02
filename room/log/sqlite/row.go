package sqlite

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"errors"

	"github.com/folkmoot/moot/room/log"
)

// seqBits is how many bits of an event's key are its seq: 68 billion events a
// room and 134 million rooms.
const (
	seqBits = 36
	maxSeq  = 1<<seqBits - 1
)

func key(room int64, seq uint64) int64 { return room<<seqBits | int64(seq) }

// A tail is a row of the table rooms.
type tail struct {
	id       int64
	name     string
	last     uint64
	hash     [32]byte
	updated  int64 // Unix nanoseconds
	wake     int64 // Unix nanoseconds; 0 for never
	bytes    int64
	dirty    bool // staged in the open transaction
	removed  bool // in the open transaction
	restored bool // in the open transaction
}

// columnsOfRoom is what scanTail wants.
const columnsOfRoom = "id, name, last, hash, updated, wake, bytes, sum"

func scanTail(row []driver.Value) (tail, error) {
	t := tail{hash: [32]byte{}}
	var last int64
	var hash, sum []byte
	ok := get(row[0], &t.id) && get(row[1], &t.name) && get(row[2], &last) && get(row[3], &hash) &&
		get(row[4], &t.updated) && (row[5] == nil || get(row[5], &t.wake)) && get(row[6], &t.bytes) && get(row[7], &sum)
	if t.last = uint64(last); ok && len(hash) == len(t.hash) {
		t.hash = [32]byte(hash)
	}
	if want := t.sum(); !ok || string(want[:]) != string(sum) {
		return t, log.Corrupt(t.name, 0, "its row in the index is damaged")
	}
	return t, nil
}

// sum guards the row: eight bytes of a hash over all of it.
func (t *tail) sum() [8]byte {
	b := make([]byte, 0, 128)
	for _, n := range []int64{t.id, int64(t.last), t.updated, t.wake, t.bytes} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	b = append(append(b, t.hash[:]...), t.name...)
	h := sha256.Sum256(b)
	return [8]byte(h[:])
}

// wakeValue is the column's form of the wake time.
func (t *tail) wakeValue() driver.Value {
	if t.wake == 0 {
		return nil
	}
	return t.wake
}

// get stores v when it has the type of out.
func get[T any](v driver.Value, out *T) bool {
	x, ok := v.(T)
	if ok {
		*out = x
	}
	return ok
}

// integer returns the first column of a row.
func integer(row []driver.Value, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	var n int64
	if len(row) == 0 || !get(row[0], &n) {
		return 0, errors.New("a whole number was expected")
	}
	return n, nil
}
