package spectate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/wire"
	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/room"
)

// bodies returns a body of each event type, with a value in every field.
func bodies(t testing.TB) (all []room.Body) {
	t.Helper()
	for _, name := range room.Types() {
		e, err := room.UnmarshalEvent(fmt.Appendf(nil, `{"v":1,"seq":1,"id":"1.1","type":%q,"agentFunc":"a","epoch":1,"at":"2026-01-01T00:00:00Z","clock_ns":0,"body":{}}`, name))
		if err != nil {
			t.Fatal(err)
		}
		v := reflect.New(reflect.TypeOf(e.Body)).Elem()
		fillIn(v, 0)
		all = append(all, v.Interface().(room.Body))
	}
	return all
}

// fillIn sets every field to a value that is not zero.
func fillIn(v reflect.Value, depth int) {
	switch {
	case depth > 12:
	case v.Type() == reflect.TypeFor[room.Visibility]():
		v.SetString(string(room.UserVisible))
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		v.SetBytes([]byte(`{"some":"json"}`))
	case v.Type() == reflect.TypeFor[time.Duration]():
		v.SetInt(int64(time.Second))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fillIn(v.Field(i), depth+1)
			}
		}
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillIn(v.Elem(), depth+1)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillIn(v.Index(0), depth+1)
	case v.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case v.Kind() == reflect.String:
		v.SetString("x")
	case v.CanInt():
		v.SetInt(1)
	case v.CanUint():
		v.SetUint(1)
	case v.CanFloat():
		v.SetFloat(0.5)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	}
}

// TestPublicEvent compares the fields that may leave with testdata/public.txt. A
// new field or event stays on the host until it is named in the filter.
// MOOT_REWRITE=1 rewrites the list.
func TestPublicEvent(t *testing.T) {
	var lines []string
	for _, b := range bodies(t) {
		for _, level := range []room.Visibility{room.UserVisible, room.UserRedacted} {
			e, ok := PublicEvent(room.Event{V: 1, Seq: 1, ID: "1.1", Actor: "a", Command: "c", Epoch: 1, Body: b}, level)
			if !ok {
				lines = append(lines, b.Type()+" stays")
				continue
			}
			raw, err := encodeEvent(e)
			if err != nil {
				t.Fatal(err)
			}
			var v map[string]any
			if err := json.Unmarshal(raw, &v); err != nil {
				t.Fatal(err)
			}
			if v["command"] != nil {
				t.Errorf("%s leaves with its command", b.Type())
			}
			lines = append(lines, paths(b.Type(), v["body"])...)
		}
		for _, level := range []room.Visibility{room.Internal, "", "all"} {
			if _, ok := PublicEvent(room.Event{V: 1, Seq: 1, Body: b}, level); ok {
				t.Errorf("%s leaves at level %q", b.Type(), level)
			}
		}
	}
	slices.Sort(lines)
	got := strings.Join(slices.Compact(lines), "\n") + "\n"
	file := filepath.Join("testdata", "public.txt")
	if os.Getenv("MOOT_REWRITE") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the public fields have changed; check them, and run with MOOT_REWRITE=1:\n%s", got)
	}
}

// paths lists the fields of v that are not zero.
func paths(at string, v any) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			all = append(all, paths(at+" "+k, x)...)
		}
	case []any:
		for _, x := range v {
			all = append(all, paths(at, x)...)
		}
	case string:
		if v != "" {
			return []string{at}
		}
	case float64:
		if v != 0 {
			return []string{at}
		}
	case bool:
		if v {
			return []string{at}
		}
	}
	return all
}

// TestPublicEventSize checks that a snapshot of any event can be sent and read
// by the other side: parts that are too deep or too long are cut.
func TestPublicEventSize(t *testing.T) {
	long := strings.Repeat("\x00\"<é", 100_000)
	many := make([]string, 64)
	for i := range many {
		many[i] = long[:4000]
	}
	deep := strings.Repeat(`{"a":`, 12) + "1" + strings.Repeat("}", 12)
	for _, b := range []room.Body{
		room.MessagePosted{Message: room.Message{Text: long, Summary: long, Visibility: room.UserVisible}},
		room.MessagePosted{Message: room.Message{Text: "short", Payload: []byte(deep), Visibility: room.UserVisible}},
		room.MessagePosted{Message: room.Message{Text: "short", Payload: []byte(`{"a":"` + strings.Repeat("x", 300_000) + `"}`), Mentions: many, Visibility: room.UserVisible}},
		room.Opened{Spec: room.Spec{Objective: long, Constraints: many}},
		room.Joined{Participant: room.Participant{ID: "a", Domains: many, Role: long}},
	} {
		e, ok := PublicEvent(room.Event{V: 1, Seq: 1, ID: "1.1", Actor: "a", Epoch: 1, At: time.Unix(1, 0).UTC(), Body: b}, room.UserVisible)
		if !ok {
			t.Fatalf("%s stays", b.Type())
		}
		raw, err := encodeEvent(e)
		if err != nil || len(raw) > maxEventSize {
			t.Fatalf("%s has %d bytes, %v", b.Type(), len(raw), err)
		}
		q := envelope.Envelope{ID: "w1", Type: envelope.Event, Room: "r_1", Body: wire.Body(wire.Snapshot{Through: 1, Events: []json.RawMessage{raw}})}
		sent, err := envelope.Encode(q)
		if err != nil {
			t.Fatalf("%s: %v", b.Type(), err)
		}
		got, err := envelope.Decode(sent)
		var v wire.Snapshot
		if err == nil {
			err = got.DecodeBody(&v)
		}
		if err == nil {
			_, _, err = v.Read(0, true)
		}
		if err != nil {
			t.Errorf("%s: %v", b.Type(), err)
		}
	}
}

// FuzzSnapshot reads arbitrary snapshots. Each is refused, or has its events in
// order.
func FuzzSnapshot(f *testing.F) {
	for _, b := range bodies(f) {
		if e, ok := PublicEvent(room.Event{V: 1, Seq: 3, ID: "1.3", Actor: "a", Epoch: 1, Body: b}, room.UserVisible); ok {
			raw, err := encodeEvent(e)
			if err != nil {
				f.Fatal(err)
			}
			f.Add([]byte(wire.Body(wire.Snapshot{After: 2, Through: 3, Events: []json.RawMessage{raw}})), int64(2))
		}
	}
	f.Add([]byte(`{"after":2,"through":2,"state":"over","phase":"stopped","reason":"x"}`), int64(2))
	f.Fuzz(func(t *testing.T, b []byte, after int64) {
		var v wire.Snapshot
		if strict.Decode(b, envelope.MaxDepth, &v) != nil {
			return
		}
		opening, events, err := v.Read(after, true)
		if err != nil {
			return
		}
		last := int64(0)
		for i, e := range append(opening, events...) {
			if i == len(opening) {
				last = after
			}
			if e.Seq <= last || e.Seq > v.Through || e.Body == nil {
				t.Fatalf("event %d after %d, through %d", e.Seq, last, v.Through)
			}
			last = e.Seq
		}
	})
}
