package endpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"sync"
)

// Digest returns the SHA-256, in hex, of everything in p but its Timeout. Two
// prompts have the same digest when an agent cannot tell them apart, whether it
// is handed the parts or what [Render] makes of them.
//
// The form that is hashed: the line "folkmoot prompt 1", then the fields in
// the order of [Prompt] and of its parts. A string or byte slice is its length
// (8 bytes, big endian) and its bytes; a number is 8 bytes; a bool is a number,
// 0 or 1; a list is the number of its elements, then the elements.
func Digest(p Prompt) string {
	d := digesters.Get().(*digester)
	defer digesters.Put(d)
	d.h.Reset()
	d.n = 0
	d.write("folkmoot prompt 1\n")
	d.strings(p.Kind, p.Request, p.Room, p.Session, p.Profile)
	d.number(int64(p.Epoch))
	d.number(int64(p.Turn))
	d.strings(p.Mode)
	d.seat(p.You)
	d.number(int64(len(p.Seats)))
	for _, s := range p.Seats {
		d.seat(s)
	}
	d.strings(p.Boundary, p.Objective)
	d.list(p.Constraints)
	d.strings(p.Summary)
	d.lines(p.History)
	d.lines(p.CatchUp)
	d.strings(p.Omitted, string(p.Hints))
	d.number(int64(p.MaxOutputChars))
	d.number(int64(p.MaxHistoryTurns))
	d.number(int64(p.MaxHistoryChars))
	d.number(int64(p.MaxToolRounds))
	d.bool(p.AllowToolUse)
	d.h.Write(d.b[:d.n])
	return hex.EncodeToString(d.h.Sum(d.b[:0]))
}

// digesters are too large to make one for every prompt.
var digesters = sync.Pool{New: func() any { return &digester{h: sha256.New()} }}

// A digester hashes what it is given, through a buffer: a hash takes bytes
// and prompts are strings.
type digester struct {
	h hash.Hash
	b [4096]byte
	n int
}

func (d *digester) write(s string) {
	for len(s) > 0 {
		if d.n == len(d.b) {
			d.h.Write(d.b[:])
			d.n = 0
		}
		n := copy(d.b[d.n:], s)
		d.n += n
		s = s[n:]
	}
}

func (d *digester) number(n int64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	d.write(string(b[:]))
}

func (d *digester) bool(b bool) {
	if b {
		d.number(1)
		return
	}
	d.number(0)
}

func (d *digester) strings(ss ...string) {
	for _, s := range ss {
		d.number(int64(len(s)))
		d.write(s)
	}
}

func (d *digester) list(ss []string) {
	d.number(int64(len(ss)))
	d.strings(ss...)
}

func (d *digester) seat(s Seat) {
	d.strings(s.ID, s.Name, s.Kind, s.Role)
	d.list(s.Domains)
	d.bool(s.SameOwner)
}

func (d *digester) lines(ls []Line) {
	d.number(int64(len(ls)))
	for _, l := range ls {
		d.number(l.Seq)
		d.strings(l.From, l.To)
		d.bool(l.Own)
		d.strings(l.Kind, l.Text)
	}
}
