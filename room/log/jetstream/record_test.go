package jetstream

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// sealed returns entries of a chain, the second of them redacted.
func sealed(t testing.TB) []log.Entry {
	var events []room.Event
	for _, id := range []string{"1", "2", "3"} {
		events = append(events, room.Event{V: room.FormatVersion, ID: id, Body: room.MessagePosted{Message: room.Message{ID: id, Text: "text"}}})
	}
	entries, err := log.Seal(0, events)
	if err != nil {
		t.Fatal(err)
	}
	var hash [32]byte
	for i := range entries {
		hash = log.Link(hash, entries[i].Seq, entries[i].Commit)
		entries[i].Hash = hash
	}
	e := &entries[1]
	e.Event, e.Raw, e.Salt, e.Redacted = e.Event.Redacted(), nil, nil, true
	return entries
}

func TestRecord(t *testing.T) {
	entries := sealed(t)
	body, err := appendEntries(nil, entries)
	if err != nil {
		t.Fatal(err)
	}
	want := record{
		kind: eventsKind, room: "r", previous: [32]byte{1}, parts: []uint64{7, 1 << 60}, body: body,
		state: state{seq: 3, hash: entries[2].Hash, bytes: -5, wake: 1, updated: 1 << 62, redact: 9, erasing: true, imported: true, restoring: true},
	}
	b := want.encode()
	got, err := decodeRecord(b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("decoded %+v, %v", got, err)
	}
	d := decoder{b: got.body}
	decoded, err := d.entries(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Check("r", 0, [32]byte{}, decoded); err != nil {
		t.Fatal(err)
	}
	for i := range b[:len(b)-len(body)] { // a changed bit of the header
		bad := slices.Clone(b)
		bad[i] ^= 4
		if _, err := decodeRecord(bad); err == nil {
			t.Fatalf("byte %d of the header can be changed", i)
		}
	}
	for i := range body { // a changed bit of the entries is found there or by the chain
		bad := slices.Clone(body)
		bad[i] ^= 4
		d := decoder{b: bad}
		decoded, err := d.entries(1)
		if err == nil && len(decoded) == 3 && log.Check("r", 0, [32]byte{}, decoded) == nil {
			t.Fatalf("byte %d of the entries can be changed", i)
		}
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{"a", "A", "_a", "_", "", "a.b", "a b", "*", ">", "ä", "a_b-1", strings.Repeat("x", 512)} {
		token := encodeName(name)
		back, ok := decodeName(token)
		if token == "" || seen[token] || strings.ContainsAny(token, ".*> ") || !ok || back != name {
			t.Errorf("%q is %q, which is %q, %v", name, token, back, ok)
		}
		seen[token] = true
	}
	if _, ok := decodeName("_?"); ok {
		t.Error("a damaged name was decoded")
	}
}

// FuzzRecord decodes messages as the servers may give them: no panic, and what is decoded
// is encoded as it was.
func FuzzRecord(f *testing.F) {
	entries := sealed(f)
	body, err := appendEntries(nil, entries)
	if err != nil {
		f.Fatal(err)
	}
	all := replacements{list: []replacement{{first: 1, last: 3, seqs: []uint64{4, 5}, entries: entries}}}
	more, err := all.encode()
	if err != nil {
		f.Fatal(err)
	}
	for _, r := range []record{
		{kind: eventsKind, room: "r", state: state{seq: 3}, body: body}, {kind: redactKind, room: "r", body: more}, {kind: partKind, parts: []uint64{1}},
	} {
		f.Add(r.encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeRecord(b)
		if err != nil {
			return
		}
		if again, err := decodeRecord(r.encode()); err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("%+v is %+v, %v", r, again, err)
		}
		d := decoder{b: r.body}
		got, err := d.entries(1)
		if err == nil && len(got) > 0 && log.Check("r", 0, [32]byte{}, got) == nil {
			again, err := appendEntries(nil, got)
			if err != nil || len(again) == 0 {
				t.Fatal(err)
			}
		}
		if _, err := decodeReplacements(r.body); err != nil {
			return
		}
	})
}
