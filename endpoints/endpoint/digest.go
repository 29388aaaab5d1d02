package endpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// Digest returns the SHA-256, in hex, of all fields of p except Timeout. Two
// prompts have the same digest if an agent cannot distinguish them, neither by
// their parts nor by the text of [Render].
//
// The hashed bytes are the line "folkmoot prompt 3", then the fields in
// the order of [Prompt] and of its parts. A string or byte slice is its length
// (8 bytes, big endian) and its bytes; a number is 8 bytes; a bool is a number,
// 0 or 1; a list is the number of its elements, then the elements. The text of
// a message is the 32 bytes of its own SHA-256.
func Digest(p Prompt) string { return new(Digester).Digest(p) }

// A Digester computes [Digest] for prompts that share messages: it hashes each
// message once. The zero Digester is ready to use. It must not be used
// concurrently.
type Digester struct {
	sums map[string][sha256.Size]byte // of recent texts
	h    hash.Hash
	b    [4096]byte // buffers strings for h
	n    int
}

// maxSums bounds the texts whose hash a Digester keeps.
const maxSums = 64

// Digest is like the function [Digest].
func (d *Digester) Digest(p Prompt) string {
	if d.h == nil {
		d.h = sha256.New()
		d.sums = map[string][sha256.Size]byte{}
	}
	d.h.Reset()
	d.n = 0
	d.write("folkmoot prompt 3\n")
	d.strings(p.Kind, p.Request, p.Room, p.Session, p.Profile)
	d.number(int64(p.Epoch))
	d.number(int64(p.Turn))
	d.strings(p.Mode)
	d.seat(p.You)
	d.number(int64(len(p.Seats)))
	for _, s := range p.Seats {
		d.seat(s)
	}
	d.strings(p.Boundary, p.Host.Name, p.Host.Device, p.Trace.ID, p.Trace.Origin, p.Trace.Profile)
	d.number(int64(p.Trace.Hops))
	d.list(p.Trace.Path)
	d.strings(p.Objective)
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

func (d *Digester) write(s string) {
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

func (d *Digester) number(n int64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	d.write(string(b[:]))
}

func (d *Digester) bool(b bool) {
	if b {
		d.number(1)
		return
	}
	d.number(0)
}

func (d *Digester) strings(ss ...string) {
	for _, s := range ss {
		d.number(int64(len(s)))
		d.write(s)
	}
}

func (d *Digester) list(ss []string) {
	d.number(int64(len(ss)))
	d.strings(ss...)
}

func (d *Digester) seat(s Seat) {
	d.strings(s.ID, s.Name, s.Kind, s.Role)
	d.list(s.Domains)
	d.bool(s.SameOwner)
	d.strings(s.Owner, s.Device)
}

func (d *Digester) lines(ls []Line) {
	d.number(int64(len(ls)))
	for _, l := range ls {
		d.number(l.Seq)
		d.strings(l.From, l.To)
		d.bool(l.Own)
		d.strings(l.Kind)
		d.text(l.Text)
	}
}

func (d *Digester) text(text string) {
	sum, ok := d.sums[text]
	if !ok {
		sum = sha256.Sum256([]byte(text))
		if len(d.sums) >= maxSums {
			clear(d.sums)
		}
		d.sums[text] = sum
	}
	d.write(string(sum[:]))
}
