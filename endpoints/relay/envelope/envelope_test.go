package envelope

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	page := `{"v":1,"id":"01J0","type":"turn.request","profile":"p","room":"r","epoch":3,"turn":12,` +
		`"trace":{"trace_id":"t","hop_count":1,"origin_device":"dev1","orchestrator_profile":"o","path":["dev1","dev2"]},"body":{}}`
	e, err := Decode([]byte(page))
	if err != nil {
		t.Fatal(err)
	}
	want := Envelope{
		V: 1, ID: "01J0", Type: TurnRequest, Profile: "p", Room: "r", Epoch: 3, Turn: 12, Body: json.RawMessage("{}"),
		Trace: &Trace{ID: "t", Hops: 1, Origin: "dev1", Profile: "o", Path: []string{"dev1", "dev2"}},
	}
	if !reflect.DeepEqual(e, want) {
		t.Errorf("got %+v\nwant %+v", e, want)
	}
	if b, err := Encode(e); err != nil || string(b) != page {
		t.Errorf("encoded to %s, %v", b, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	long := strings.Repeat("x", MaxName+1)
	for name, text := range map[string]string{
		"nothing":         ``,
		"no object":       `[]`,
		"cut off":         `{"v":1,"id":"a","type":"bye","body":{}`,
		"two values":      `{"v":1,"id":"a","type":"bye","body":{}} {}`,
		"version":         `{"v":2,"id":"a","type":"bye","body":{}}`,
		"no id":           `{"v":1,"type":"bye","body":{}}`,
		"long id":         `{"v":1,"id":"` + long + `","type":"bye","body":{}}`,
		"id with a space": `{"v":1,"id":"a b","type":"bye","body":{}}`,
		"id with a bidi":  `{"v":1,"id":"a\u202eb","type":"bye","body":{}}`,
		"type":            `{"v":1,"id":"a","type":"turn.steal","body":{}}`,
		"key twice":       `{"v":1,"id":"a","id":"b","type":"bye","body":{}}`,
		"key twice deep":  `{"v":1,"id":"a","type":"bye","body":{"x":{"y":1,"y":2}}}`,
		"other case":      `{"v":1,"ID":"a","type":"bye","body":{}}`,
		"unknown key":     `{"v":1,"id":"a","type":"bye","body":{},"sudo":true}`,
		"invalid UTF-8":   "{\"v\":1,\"id\":\"a\",\"type\":\"bye\",\"body\":{\"x\":\"\xff\"}}",
		"no body":         `{"v":1,"id":"a","type":"bye"}`,
		"body of null":    `{"v":1,"id":"a","type":"bye","body":null}`,
		"body of text":    `{"v":1,"id":"a","type":"bye","body":"{}"}`,
		"negative turn":   `{"v":1,"id":"a","type":"bye","turn":-1,"body":{}}`,
		"negative epoch":  `{"v":1,"id":"a","type":"bye","epoch":-1,"body":{}}`,
		"huge epoch":      `{"v":1,"id":"a","type":"bye","epoch":1e400,"body":{}}`,
		"long path":       `{"v":1,"id":"a","type":"bye","body":{},"trace":{"path":["` + strings.Repeat(`a","`, MaxPath) + `b"]}}`,
		"empty device":    `{"v":1,"id":"a","type":"bye","body":{},"trace":{"path":[""]}}`,
		"deep":            `{"v":1,"id":"a","type":"bye","body":` + strings.Repeat(`{"a":`, 100_000) + `1` + strings.Repeat(`}`, 100_000) + `}`,
	} {
		if e, err := Decode([]byte(text)); !errors.Is(err, ErrEnvelope) {
			t.Errorf("%s: got %+v, %v", name, e, err)
		}
	}
	if _, err := Decode(make([]byte, MaxSize+1)); !errors.Is(err, ErrEnvelope) {
		t.Errorf("too large: %v", err)
	}
}

func TestEncodeRefuses(t *testing.T) {
	for name, e := range map[string]Envelope{
		"no id":      {Type: Bye},
		"no type":    {ID: "a"},
		"bad body":   {ID: "a", Type: Bye, Body: json.RawMessage("{")},
		"large body": {ID: "a", Type: Bye, Body: json.RawMessage(`{"x":"` + strings.Repeat("x", MaxSize) + `"}`)},
	} {
		if b, err := Encode(e); !errors.Is(err, ErrEnvelope) {
			t.Errorf("%s: got %s, %v", name, b, err)
		}
	}
	if b, err := Encode(Envelope{ID: "a", Type: Bye}); err != nil || string(b) != `{"v":1,"id":"a","type":"bye","body":{}}` {
		t.Errorf("got %s, %v", b, err)
	}
}

func TestDecodeBody(t *testing.T) {
	var body struct {
		Text string `json:"text"`
	}
	e := Envelope{Type: Message, Body: json.RawMessage(`{"text":"hi"}`)}
	if err := e.DecodeBody(&body); err != nil || body.Text != "hi" {
		t.Errorf("got %q, %v", body.Text, err)
	}
	for _, bad := range []string{`{"Text":"hi"}`, `{"text":"hi","more":1}`, `{"text":7}`} {
		e.Body = json.RawMessage(bad)
		if err := e.DecodeBody(&body); !errors.Is(err, ErrEnvelope) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestUnknownHops: an invalid hop count counts as the limit. The request is
// served but not forwarded.
func TestUnknownHops(t *testing.T) {
	for _, hops := range []string{`"1"`, `1.5`, `-1`, `0`, `null`, `1e99`, `[]`, `{"a":1}`, `99999999`} {
		text := `{"v":1,"id":"a","type":"call","body":{},"trace":{"trace_id":"t","hop_count":` + hops + `,"origin_device":"a","path":["a"]}}`
		e, err := Decode([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", hops, err)
			continue
		}
		got, err := Accept(e.Trace, "b", "a", 2)
		if err != nil || got.Hops != 2 {
			t.Errorf("%s: %+v, %v", hops, got, err)
		}
		if _, err := got.Forward("b", "c", 2); !errors.Is(err, ErrHops) {
			t.Errorf("%s: forwarded: %v", hops, err)
		}
	}
	if got, err := Accept(nil, "b", "a", 2); err != nil || got.Hops != 2 || got.Origin != "a" {
		t.Errorf("no trace: %+v, %v", got, err)
	}
}

func TestArrived(t *testing.T) {
	for name, c := range map[string]struct {
		trace Trace
		from  string
		want  error
	}{
		"direct":                 {NewTrace("t", "a", "p"), "a", nil},
		"through one":            {Trace{Hops: 2, Origin: "a", Path: []string{"a", "b"}}, "b", nil},
		"through two":            {Trace{Hops: 3, Origin: "a", Path: []string{"a", "b", "c"}}, "c", ErrHops},
		"states too few hops":    {Trace{Hops: 1, Origin: "a", Path: []string{"a", "b", "c"}}, "c", ErrHops},
		"states many hops":       {Trace{Hops: 9, Origin: "a", Path: []string{"a"}}, "a", ErrHops},
		"from itself":            {NewTrace("t", "self", "p"), "self", ErrSelfLoop},
		"A-B-A":                  {Trace{Hops: 2, Origin: "self", Path: []string{"self", "b"}}, "b", ErrLoop},
		"ring of three":          {Trace{Hops: 3, Origin: "self", Path: []string{"self", "b", "c"}}, "c", ErrLoop},
		"ring inside":            {Trace{Hops: 2, Origin: "a", Path: []string{"a", "self", "b"}}, "b", ErrLoop},
		"cut from the path":      {Trace{Hops: 1, Origin: "self", Path: []string{"b"}}, "b", ErrSelfLoop},
		"sender not in the path": {NewTrace("t", "a", "p"), "b", ErrTrace},
		"another origin":         {Trace{Hops: 1, Origin: "x", Path: []string{"a"}}, "a", ErrTrace},
		"no path":                {Trace{Hops: 1, Origin: "a"}, "a", ErrTrace},
		"a device twice":         {Trace{Hops: 2, Origin: "a", Path: []string{"a", "b", "a", "b"}}, "b", ErrLoop},
	} {
		if _, err := Accept(&c.trace, "self", c.from, 2); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// TestRings: between honest devices no ring closes, by the caller's check alone
// or the responder's alone, and a chain ends at the limit.
func TestRings(t *testing.T) {
	for size := 1; size <= 6; size++ {
		for limit := 1; limit <= 8; limit++ {
			hops, callerErr, responderErr := walk(size, limit)
			if callerErr == nil || responderErr == nil || hops > limit {
				t.Errorf("ring of %d with limit %d: %d hops, then %v / %v", size, limit, hops, callerErr, responderErr)
			}
			if want := min(limit, size-1); hops != want {
				t.Errorf("ring of %d with limit %d: %d hops, want %d", size, limit, hops, want)
			}
		}
	}
}

// walk forwards a request around a ring until both sides refuse.
func walk(size, limit int) (hops int, callerErr, responderErr error) {
	device := func(i int) string { return fmt.Sprint("device", i%size) }
	t, callerErr := Start("t", device(0), "p", device(1), limit)
	for i := 1; ; i++ {
		arrived, responderErr := Accept(&t, device(i), device(i-1), limit)
		if callerErr != nil || responderErr != nil {
			return hops, callerErr, responderErr
		}
		hops++
		t, callerErr = arrived.Forward(device(i), device(i+1), limit)
	}
}

func TestForwardLeavesTraceAlone(t *testing.T) {
	a := NewTrace("t", "a", "p")
	a.Path = append(make([]string, 0, 8), a.Path...)
	b, _ := a.Forward("b", "c", 5)
	c, _ := a.Forward("x", "y", 5)
	if len(a.Path) != 1 || b.Path[1] != "b" || c.Path[1] != "x" {
		t.Errorf("traces share their paths: %v %v %v", a, b, c)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"v":1,"id":"01J0","type":"turn.request","profile":"p","room":"r","epoch":3,"turn":12,"trace":{"trace_id":"t","hop_count":1,"origin_device":"dev1","orchestrator_profile":"o","path":["dev1"]},"body":{"a":[1,{"b":null}]}}`))
	f.Add([]byte(`{"v":1,"id":"a","type":"bye","body":{}}`))
	f.Add([]byte(`{"v":1,"id":"a","type":"bye","body":{"é":"\ud800"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Encode(e)
		if err != nil {
			t.Fatalf("decoded envelope cannot be encoded: %v", err)
		}
		second, err := Decode(again)
		if err != nil {
			t.Fatal(err)
		}
		if third, err := Encode(second); err != nil || string(third) != string(again) {
			t.Fatalf("encoding is not stable: %s\n%s", again, third)
		}
	})
}
