package jetstream

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A kind of messages on the subject of a room.
type kind byte

const (
	eventsKind  kind = iota + 1 // events that were appended together
	partKind                    // a piece of the body of a later message
	redactKind                  // all messages that were replaced because of redactions
	removedKind                 // the room is removed, and its messages are being erased
)

// A state is the state of a room. Each message of the room has the one after it.
type state struct {
	seq     uint64 // of the last event
	hash    [32]byte
	bytes   int64
	wake    int64  // Unix nanoseconds; 0 for never
	updated int64  // Unix nanoseconds
	redact  uint64 // the message with all redactions; 0 for none
	erasing bool   // what that message replaces may not be erased yet

	imported  bool // the room was restored
	restoring bool // it is being restored, and does not exist yet
}

// A record is a message of a room.
type record struct {
	kind     kind
	room     string
	state    state
	previous [32]byte // eventsKind: the hash before its first event
	parts    []uint64 // messages of partKind with the body; the body is in this message if there are none
	body     []byte

	seq uint64 // of the message in the stream, when it was read
}

const recordVersion = 1

// headerSum is the length of the checksum of a record's header.
const headerSum = 8

// encode returns the message: the header with its length and checksum, and the body. The body
// needs no checksum here: commitments and sums of its entries guard it.
func (r *record) encode() []byte {
	h := append(make([]byte, 0, 256+len(r.body)), recordVersion, byte(r.kind))
	h = appendBytes(h, []byte(r.room))
	h = binary.AppendUvarint(h, r.state.seq)
	h = append(h, r.state.hash[:]...)
	h = binary.AppendVarint(h, r.state.bytes)
	h = binary.AppendVarint(h, r.state.wake)
	h = binary.AppendVarint(h, r.state.updated)
	h = binary.AppendUvarint(h, r.state.redact)
	h = appendFlag(h, r.state.erasing)
	h = appendFlag(h, r.state.imported)
	h = appendFlag(h, r.state.restoring)
	h = append(h, r.previous[:]...)
	h = appendSeqs(h, r.parts)
	sum := sha256.Sum256(h)
	return append(append(h, sum[:headerSum]...), r.body...)
}

func appendBytes(b, s []byte) []byte { return append(binary.AppendUvarint(b, uint64(len(s))), s...) }

func appendFlag(b []byte, flag bool) []byte {
	if flag {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendSeqs(b []byte, seqs []uint64) []byte {
	b = binary.AppendUvarint(b, uint64(len(seqs)))
	for _, seq := range seqs {
		b = binary.AppendUvarint(b, seq)
	}
	return b
}

var errDamaged = errors.New("its message is damaged")

// A decoder reads fields. After an error all are zero.
type decoder struct {
	b      []byte
	failed bool
}

func (d *decoder) take(n uint64) []byte {
	if d.failed || n > uint64(len(d.b)) {
		d.failed = true
		return nil
	}
	out := d.b[:n:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) byte() byte {
	if b := d.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// flag reads 0 or 1.
func (d *decoder) flag() bool {
	b := d.byte()
	d.failed = d.failed || b > 1
	return b == 1
}

func (d *decoder) hash() (h [32]byte) {
	copy(h[:], d.take(32))
	return h
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if d.failed || n <= 0 {
		d.failed = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if d.failed || n <= 0 {
		d.failed = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count reads the number of things of at least one byte each.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.failed = true
		return 0
	}
	return int(n)
}

func (d *decoder) seqs() []uint64 {
	var all []uint64
	for range d.count() {
		all = append(all, d.uvarint())
	}
	return all
}

// decodeRecord decodes a message.
func decodeRecord(b []byte) (record, error) {
	d := decoder{b: b}
	var r record
	version := d.byte()
	r.kind = kind(d.byte())
	r.room = string(d.take(d.uvarint()))
	r.state = state{
		seq: d.uvarint(), hash: d.hash(), bytes: d.varint(), wake: d.varint(), updated: d.varint(),
		redact: d.uvarint(), erasing: d.flag(), imported: d.flag(), restoring: d.flag(),
	}
	r.previous = d.hash()
	r.parts = d.seqs()
	sum := sha256.Sum256(b[:len(b)-len(d.b)])
	stored := d.take(headerSum)
	r.body = d.b
	switch {
	case d.failed || string(stored) != string(sum[:headerSum]):
		return record{}, errDamaged
	case version != recordVersion || r.kind < eventsKind || r.kind > removedKind:
		return record{}, errors.New("a newer release of moot wrote its message")
	}
	return r, nil
}

// openRecord decodes a message as it was read. A message with redactions does not know its own
// number.
func openRecord(m message) (record, error) {
	r, err := decodeRecord(m.Data)
	if r.seq = m.Seq; r.kind == redactKind {
		r.state.redact = m.Seq
	}
	return r, err
}

// appendEntries encodes entries. The events themselves are in Raw, or are stubs.
func appendEntries(b []byte, entries []log.Entry) ([]byte, error) {
	b = binary.AppendUvarint(b, uint64(len(entries)))
	for i := range entries {
		e := &entries[i]
		raw := e.Raw
		b = appendFlag(b, e.Redacted)
		b = append(append(b, e.Commit[:]...), e.Hash[:]...)
		if e.Redacted {
			var err error
			if raw, err = room.MarshalEvent(e.Event); err != nil {
				return nil, err
			}
			b = append(b, stubSum(e, raw)...)
		} else {
			b = append(b, e.Salt...)
		}
		b = appendBytes(b, raw)
	}
	return b, nil
}

// stubSum guards a stub, which the chain does not.
func stubSum(e *log.Entry, raw []byte) []byte {
	sum := log.Link(e.Hash, e.Seq, sha256.Sum256(raw))
	return sum[:log.SaltSize]
}

// entries decodes entries of which the first is event first. With an error it returns
// those before the damage. They are not checked against the chain.
func (d *decoder) entries(first uint64) ([]log.Entry, error) {
	var all []log.Entry
	for i := range d.count() {
		e := log.Entry{Pos: log.Pos{Seq: first + uint64(i)}}
		e.Redacted = d.flag()
		e.Commit, e.Hash = d.hash(), d.hash()
		guard := d.take(log.SaltSize)
		raw := d.take(d.uvarint())
		if d.failed {
			return all, errDamaged
		}
		if e.Redacted && string(stubSum(&e, raw)) != string(guard) {
			return all, errors.New("its stub is damaged")
		}
		event, err := room.UnmarshalEvent(raw)
		if err != nil && (e.Redacted || log.Commit(guard, raw) == e.Commit) {
			return all, err // it is what was stored
		}
		e.Event = event
		if !e.Redacted {
			e.Raw, e.Salt = raw, guard
		}
		all = append(all, e)
	}
	if d.failed {
		return all, errDamaged
	}
	return all, nil
}
