package room

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestEventRoundTrip(t *testing.T) {
	e := Event{
		V: 1, Seq: 12, ID: "1.12", Actor: "alice", Command: "c_1", Epoch: 3, Clock: -5,
		At:   time.Date(2026, 3, 1, 12, 0, 0, 5000, time.UTC),
		Body: MessagePosted{Message: Message{Text: "tab\t, quote \" and é <b>"}},
	}
	b, err := MarshalEvent(e)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := UnmarshalEvent(b); err != nil || !reflect.DeepEqual(got, e) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// FuzzUnmarshalEvent checks that an event that can be read and written is read
// again as the same event.
func FuzzUnmarshalEvent(f *testing.F) {
	for _, s := range []string{
		`{"v":1,"seq":2,"id":"1.2","type":"room.resumed","actor":"room","epoch":1,"at":"2026-03-01T12:00:00Z","clock_ns":0,"body":{}}`,
		`{"v":1,"seq":-2,"id":"1.2","type":"room.claimed","actor":"a","command":"c","epoch":1,"at":"2026-03-01T12:00:00.5+01:00","clock_ns":7,"body":{"owner":"x"}}`,
		`{"v":1,"seq":2,"id":"","type":"room.resumed","actor":"room","epoch":1,"at":"2026-03-01T12:00:00Z","clock_ns":0,"body":{},"v":2}`,
		`{"v":1,"seq":2,"id":"1","type":"room.resumed","actor":"room","epoch":-1,"at":"2026-03-01T12:00:00Z","clock_ns":0,"body":{}}`,
		`{"v":01,"seq":2,"id":"\u0041","type":"room.resumed","actor":"room","epoch":-1,"at":"x","clock_ns":1e3,"body":null}`,
		`{"v":1,"seq":99999999999999999999,"id":"é","type":"nothing","actor":"room","epoch":1,"at":"2026-03-01T12:00:00Z","clock_ns":0,"body":{}} `,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := UnmarshalEvent(b)
		if err != nil {
			return
		}
		first, err := MarshalEvent(e)
		if err != nil {
			return
		}
		again, err := UnmarshalEvent(first)
		if err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		if second, err := MarshalEvent(again); err != nil || string(second) != string(first) {
			t.Fatalf("%s became %s, %v", first, second, err)
		}
	})
}

func benchmarkEvent(b *testing.B) (Event, []byte) {
	b.Helper()
	e := Event{
		V: 1, Seq: 12, ID: "1.12", Actor: "alice", Command: "c_0123456789abcdef", Epoch: 3, At: time.Now(),
		Body: MessagePosted{Turn: 3, Message: Message{ID: "m", From: "alice", To: Broadcast, Kind: KindUtterance, Visibility: UserVisible, Text: strings.Repeat("some words ", 130)}},
	}
	raw, err := MarshalEvent(e)
	if err != nil {
		b.Fatal(err)
	}
	return e, raw
}

func BenchmarkUnmarshalEvent(b *testing.B) {
	_, raw := benchmarkEvent(b)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := UnmarshalEvent(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMarshalEvent(b *testing.B) {
	e, raw := benchmarkEvent(b)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := MarshalEvent(e); err != nil {
			b.Fatal(err)
		}
	}
}
