package relay

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
	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/room"
)

// bodies are all there are, each with something in every field.
func bodies(t testing.TB) (all []room.Body) {
	t.Helper()
	for _, name := range room.Types() {
		e, err := room.UnmarshalEvent(fmt.Appendf(nil, `{"v":1,"seq":1,"id":"1.1","type":%q,"actor":"a","epoch":1,"at":"2026-01-01T00:00:00Z","clock_ns":0,"body":{}}`, name))
		if err != nil {
			t.Fatal(err)
		}
		v := reflect.New(reflect.TypeOf(e.Body)).Elem()
		fillIn(v, 0)
		all = append(all, v.Interface().(room.Body))
	}
	return all
}

// fillIn puts something into every field.
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

// TestOutward: what of which event may leave is written down, field by field:
// a new field, or a new event, stays here until somebody has decided.
// Rewrite the list with MOOT_REWRITE=1.
func TestOutward(t *testing.T) {
	var lines []string
	for _, b := range bodies(t) {
		for _, level := range []room.Visibility{room.UserVisible, room.UserRedacted} {
			e, ok := outward(room.Event{V: 1, Seq: 1, ID: "1.1", Actor: "a", Command: "c", Epoch: 1, Body: b}, level)
			if !ok {
				lines = append(lines, b.Type()+" stays")
				continue
			}
			raw, err := written(e)
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
			if _, ok := outward(room.Event{V: 1, Seq: 1, Body: b}, level); ok {
				t.Errorf("%s leaves at level %q", b.Type(), level)
			}
		}
	}
	slices.Sort(lines)
	got := strings.Join(slices.Compact(lines), "\n") + "\n"
	file := filepath.Join("testdata", "outward.txt")
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
		t.Errorf("what leaves has changed; read it, and run with MOOT_REWRITE=1:\n%s", got)
	}
}

// paths lists the fields of v that hold something.
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

// TestOutwardSize: whatever an event holds, an answer with it can be sent and
// is read by the other side; what is too deep or too long stays here.
func TestOutwardSize(t *testing.T) {
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
		e, ok := outward(room.Event{V: 1, Seq: 1, ID: "1.1", Actor: "a", Epoch: 1, At: time.Unix(1, 0).UTC(), Body: b}, room.UserVisible)
		if !ok {
			t.Fatalf("%s stays", b.Type())
		}
		raw, err := written(e)
		if err != nil || len(raw) > maxShown {
			t.Fatalf("%s has %d bytes, %v", b.Type(), len(raw), err)
		}
		q := envelope.Envelope{ID: "w1", Type: envelope.Event, Room: "r_1", Body: body(scene{Through: 1, Events: []json.RawMessage{raw}})}
		sent, err := envelope.Encode(q)
		if err != nil {
			t.Fatalf("%s: %v", b.Type(), err)
		}
		got, err := envelope.Decode(sent)
		var v scene
		if err == nil {
			err = got.DecodeBody(&v)
		}
		if err == nil {
			_, _, err = v.read(0, true)
		}
		if err != nil {
			t.Errorf("%s: %v", b.Type(), err)
		}
	}
}

// TestSceneRefuses: a host that shows what cannot be is not believed.
func TestSceneRefuses(t *testing.T) {
	ev := func(seq int) string {
		return fmt.Sprintf(`{"v":1,"seq":%d,"id":"1.%d","type":"room.resumed","actor":"a","epoch":1,"at":"2026-01-01T00:00:00Z","clock_ns":0,"body":{}}`, seq, seq)
	}
	read := func(text string, after int64, known bool) error {
		var v scene
		if err := strict.Decode([]byte(text), envelope.MaxDepth, &v); err != nil {
			return err
		}
		_, _, err := v.read(after, known)
		return err
	}
	for _, good := range []string{
		`{"after":5,"through":5}`, `{"after":5,"through":7,"events":[` + ev(6) + `,` + ev(7) + `]}`, `{"after":5,"through":9,"events":[` + ev(8) + `]}`,
		`{"after":5,"through":5,"state":"over","phase":"stopped","reason":"x"}`,
	} {
		if err := read(good, 5, true); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	if err := read(`{"after":5,"through":6,"head":[`+ev(1)+`,`+ev(3)+`],"events":[`+ev(6)+`]}`, 0, false); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		`{"after":4,"through":5}`, `{"after":6,"through":6}`, `{"after":5,"through":4}`, `{"after":-1,"through":5}`,
		`{"after":5,"through":6,"events":[` + ev(5) + `]}`, `{"after":5,"through":6,"events":[` + ev(7) + `]}`,
		`{"after":5,"through":7,"events":[` + ev(7) + `,` + ev(6) + `]}`, `{"after":5,"through":7,"events":[` + ev(6) + `,` + ev(6) + `]}`,
		`{"after":5,"through":5,"head":[` + ev(6) + `]}`, `{"after":5,"through":5,"state":"on fire"}`, `{"after":5,"through":5,"more":1}`, `{"After":5,"through":5}`,
		`{"after":5,"through":6,"events":["x"]}`, `{"after":5,"through":6,"events":[{}]}`, `{"after":5,"through":6,"events":null,"events":[]}`,
		`{"after":5,"through":6,"events":[` + strings.Replace(ev(6), `"v":1`, `"v":2`, 1) + `]}`,
		`{"after":5,"through":6,"events":[` + strings.Replace(ev(6), `"seq":6`, `"seq":6,"seq":6`, 1) + `]}`,
		`{"after":5,"through":6,"events":[` + strings.Replace(ev(6), `resumed`, `burnt`, 1) + `]}`,
		`{"after":5,"through":6,"events":[` + strings.Replace(ev(6), `"body":{}`, `"body":`+strings.Repeat("[", 13)+strings.Repeat("]", 13), 1) + `]}`,
		`{"after":5,"through":1000,"events":[` + strings.TrimSuffix(strings.Repeat(ev(6)+",", maxBatch+1), ",") + `]}`,
	} {
		if err := read(bad, 5, true); err == nil {
			t.Errorf("taken: %s", bad)
		}
	}
}

// FuzzScene: whatever a host shows is refused, or is events in order.
func FuzzScene(f *testing.F) {
	for _, b := range bodies(f) {
		if e, ok := outward(room.Event{V: 1, Seq: 3, ID: "1.3", Actor: "a", Epoch: 1, Body: b}, room.UserVisible); ok {
			raw, err := written(e)
			if err != nil {
				f.Fatal(err)
			}
			f.Add([]byte(body(scene{After: 2, Through: 3, Events: []json.RawMessage{raw}})), int64(2))
		}
	}
	f.Add([]byte(`{"after":2,"through":2,"state":"over","phase":"stopped","reason":"x"}`), int64(2))
	f.Fuzz(func(t *testing.T, b []byte, after int64) {
		var v scene
		if strict.Decode(b, envelope.MaxDepth, &v) != nil {
			return
		}
		head, events, err := v.read(after, true)
		if err != nil {
			return
		}
		last := int64(0)
		for i, e := range append(head, events...) {
			if i == len(head) {
				last = after
			}
			if e.Seq <= last || e.Seq > v.Through || e.Body == nil {
				t.Fatalf("event %d after %d, through %d", e.Seq, last, v.Through)
			}
			last = e.Seq
		}
	})
}

// FuzzWish: whatever a device asks is refused, or within bounds.
func FuzzWish(f *testing.F) {
	for _, s := range []string{`{}`, `{"after":0}`, `{"after":12}`, `{"last":50}`, `{"after":-1}`, `{"last":1e3}`, `{"after":null,"last":5}`, `{"text":"hello"}`, `{"text":"\u0000"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var w wish
		if strict.Decode(b, envelope.MaxDepth, &w) == nil && w.check() == nil && (w.Last < 0 || w.Last > maxLast || w.After != nil && *w.After < 0) {
			t.Fatalf("taken: %+v", w)
		}
		var said words
		if strict.Decode(b, envelope.MaxDepth, &said) == nil && said.fit() == "" && len(said.Text) > 4*maxWords {
			t.Fatalf("taken: %d bytes", len(said.Text))
		}
	})
}
