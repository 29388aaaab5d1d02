package log_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
)

// Computed with Python's hashlib, independently of this package.
const (
	wantCommit = "333b13ff02f57ae18049b82ca66f37592c5a3d8fd54e44e23ae5c7085c24fd2a"
	wantLink   = "f988b638142d991b7aeaa04a9836bbfc62bbfa9cfe5e1294632f253cf3fa90d1"
	wantDigest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
)

func TestCommitAndLink(t *testing.T) {
	salt := make([]byte, log.SaltSize)
	commit := log.Commit(salt, []byte("{}"))
	if got := hex.EncodeToString(commit[:]); got != wantCommit {
		t.Errorf("commitment is %s, want %s", got, wantCommit)
	}
	link := log.Link([32]byte{}, 258, commit)
	if got := hex.EncodeToString(link[:]); got != wantLink {
		t.Errorf("hash is %s, want %s", got, wantLink)
	}
	if got := log.Digest([]byte("abc")); got != wantDigest {
		t.Errorf("digest is %s, want %s", got, wantDigest)
	}
}

// chain returns n sealed and linked entries.
func chain(t testing.TB, n int) []log.Entry {
	t.Helper()
	entries, err := log.Seal(0, logtest.Events("e", n))
	if err != nil {
		t.Fatal(err)
	}
	var previous [32]byte
	for i := range entries {
		entries[i].Hash = log.Link(previous, entries[i].Seq, entries[i].Commit)
		previous = entries[i].Hash
	}
	return entries
}

// redact does to an entry what an engine does.
func redact(e *log.Entry) {
	e.Redacted, e.Raw, e.Salt, e.Event = true, nil, nil, e.Event.Redacted()
}

func TestCheck(t *testing.T) {
	entries := chain(t, 9)
	redact(&entries[2])
	redact(&entries[8])
	for from := range entries {
		var previous [32]byte
		if from > 0 {
			previous = entries[from-1].Hash
		}
		if err := log.Check("a", uint64(from), previous, entries[from:]); err != nil {
			t.Errorf("from %d: %v", from, err)
		}
	}
}

func TestCheckNames(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(entries []log.Entry) []log.Entry
		seq    uint64
		why    string
	}{
		"gap":          {func(e []log.Entry) []log.Entry { return append(e[:3:3], e[4:]...) }, 4, "missing"},
		"start cut":    {func(e []log.Entry) []log.Entry { return e[1:] }, 1, "missing"},
		"duplicate":    {func(e []log.Entry) []log.Entry { return append(e[:3:3], e[2:]...) }, 4, "missing"},
		"exchanged":    {func(e []log.Entry) []log.Entry { e[3], e[4] = e[4], e[3]; return e }, 4, "missing"},
		"body":         {func(e []log.Entry) []log.Entry { e[4].Raw[30] ^= 1; return e }, 5, "body"},
		"salt":         {func(e []log.Entry) []log.Entry { e[4].Salt[0] ^= 1; return e }, 5, "body"},
		"salt moved":   {func(e []log.Entry) []log.Entry { return moveSalt(e, 4) }, 5, "salt"},
		"commitment":   {func(e []log.Entry) []log.Entry { e[2].Commit[9] ^= 1; return e }, 3, "hash"},
		"hash":         {func(e []log.Entry) []log.Entry { e[6].Hash[31] ^= 1; return e }, 7, "hash"},
		"event":        {func(e []log.Entry) []log.Entry { e[6].Event.Seq = 8; return e }, 7, "event 8"},
		"half removed": {func(e []log.Entry) []log.Entry { e[5].Redacted = true; return e }, 6, "body"},
	} {
		entries := chain(t, 8)
		redact(&entries[2])
		err := log.Check("a", 0, [32]byte{}, c.damage(entries))
		got, ok := errors.AsType[*log.CorruptError](err)
		if !ok || got.Seq != c.seq || got.Room != "a" || !errors.Is(err, log.ErrCorrupt) {
			t.Errorf("%s: %v, want one that names event %d", name, err, c.seq)
			continue
		}
		if !strings.Contains(got.Why, c.why) {
			t.Errorf("%s: %q does not say %q", name, got.Why, c.why)
		}
	}
}

// moveSalt moves a byte from the salt to the body. The hashed bytes stay the same.
func moveSalt(entries []log.Entry, i int) []log.Entry {
	e := &entries[i]
	last := len(e.Salt) - 1
	e.Raw = append([]byte{e.Salt[last]}, e.Raw...)
	e.Salt = e.Salt[:last]
	return entries
}

func TestSeal(t *testing.T) {
	at := room.Event{V: 1, ID: "x", Seq: 8, Body: room.Resumed{}}
	if _, err := log.Seal(6, []room.Event{at}); err == nil {
		t.Error("an event of another place was sealed")
	}
	entries, err := log.Seal(7, []room.Event{at, {V: 1, ID: "y", Body: room.Resumed{}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		event, err := room.UnmarshalEvent(e.Raw)
		if err != nil || event.Seq != int64(8+i) || e.Seq != uint64(8+i) || len(e.Salt) != log.SaltSize {
			t.Errorf("entry %d: %+v, %v", i, e, err)
		}
	}
}

func TestCorruptError(t *testing.T) {
	for want, err := range map[string]error{
		"room a, event 3: the log of room a is corrupt at event 3: why": log.Corrupt("a", 3, "why"),
		"room a: the log of room a is corrupt: why":                     log.Corrupt("a", 0, "why"),
		"data folder: log is corrupt: why":                              log.Corrupt("", 0, "why"),
	} {
		if got := err.Error(); got != want+" [LOG-CORRUPT]" {
			t.Errorf("got %q, want %q", got, want)
		}
		if !errors.Is(fmt.Errorf("opening: %w", err), log.ErrCorrupt) {
			t.Error("is not ErrCorrupt")
		}
	}
}

// FuzzCheck changes one bit of a chain. Check must find it and name its place.
func FuzzCheck(f *testing.F) {
	f.Add(uint8(5), uint8(2), uint8(0), uint16(77), uint16(0))
	f.Add(uint8(1), uint8(0), uint8(1), uint16(3), uint16(1))
	f.Add(uint8(9), uint8(8), uint8(2), uint16(255), uint16(0x155))
	f.Add(uint8(3), uint8(1), uint8(3), uint16(11), uint16(0))
	f.Fuzz(func(t *testing.T, n, at, field uint8, bit, gone uint16) {
		entries := chain(t, 1+int(n%12))
		for i := range entries {
			if gone>>i&1 == 1 {
				redact(&entries[i])
			}
		}
		if err := log.Check("a", 0, [32]byte{}, entries); err != nil {
			t.Fatal(err)
		}
		e := &entries[int(at)%len(entries)]
		b := [][]byte{e.Raw, e.Salt, e.Commit[:], e.Hash[:]}[field%4]
		if len(b) == 0 {
			return // redacted
		}
		b[int(bit/8)%len(b)] ^= 1 << (bit % 8)
		err := log.Check("a", 0, [32]byte{}, entries)
		c, ok := errors.AsType[*log.CorruptError](err)
		if !ok || c.Seq != e.Seq {
			t.Fatalf("a bit of event %d was changed: %v", e.Seq, err)
		}
	})
}
