package room

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// slow is what encoding/json makes of an event's stored form.
func slow(b []byte) (Event, error) {
	var w eventJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return Event{}, err
	}
	return w.event()
}

func TestEnvelopeIsRead(t *testing.T) {
	e := Event{
		V: 1, Seq: 12, ID: "1.12", Actor: "alice", Command: "c_1", Epoch: 3, Clock: -5,
		At:   time.Date(2026, 3, 1, 12, 0, 0, 5000, time.UTC),
		Body: MessagePosted{Message: Message{Text: "tab\t, quote \" and é"}},
	}
	b, err := MarshalEvent(e)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := parseEnvelope(b); !ok {
		t.Errorf("the usual form %s is not read by hand", b)
	}
	if got, err := UnmarshalEvent(b); err != nil || !reflect.DeepEqual(got, e) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// FuzzUnmarshalEvent: reading by hand takes nothing that encoding/json does
// not take, and reads the same from it.
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
		want, wantErr := slow(b)
		got, err := UnmarshalEvent(b)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v, encoding/json says %v", b, err, wantErr)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %+v, encoding/json reads %+v", b, got, want)
		}
	})
}

// FuzzMarshalEvent: writing by hand gives the bytes of encoding/json.
func FuzzMarshalEvent(f *testing.F) {
	f.Add("1.2", "alice", "c_1", uint64(1), int64(1772366400), int64(5), "text")
	f.Add("\"", "\u2028", "<&>\\", uint64(1<<63), int64(-1<<40), int64(-1), "\xff\x00")
	f.Fuzz(func(t *testing.T, id, actor, command string, epoch uint64, at, nanos int64, text string) {
		e := Event{
			V: 1, Seq: nanos, ID: id, Actor: actor, Command: command, Epoch: epoch,
			At: time.Unix(at, nanos), Clock: time.Duration(at), Body: Stopped{Reason: text},
		}
		body, err := encode(e.Body)
		if err != nil {
			t.Fatal(err)
		}
		want, wantErr := encode(eventJSON{e.V, e.Seq, e.ID, e.Body.Type(), e.Actor, e.Command, e.Epoch, e.At.UTC(), int64(e.Clock), body})
		got, err := MarshalEvent(e)
		if (err == nil) != (wantErr == nil) || !bytes.Equal(got, want) {
			t.Fatalf("%q, %v; encoding/json gives %q, %v", got, err, want, wantErr)
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
