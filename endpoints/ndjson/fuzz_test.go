package ndjson

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/inflight"
	"github.com/folkmoot/moot/endpoints/scripted"
	"github.com/folkmoot/moot/internal/strict"
)

// FuzzOutput feeds arbitrary output to a wire with a request in flight. The wire
// must end, never panic, and give one result within all limits.
func FuzzOutput(f *testing.F) {
	const ok = `{"type":"desktop.local_prompt.response","request_id":"q","status":"ok","draft_message":"hi","usage":{"input_tokens":1,"output_tokens":2},"confidence":0.5}`
	for _, s := range []string{
		ok + "\n", ok[:60], ok[:60] + "\n" + ok + "\n", ok + ok + "\n", ok + "\n" + ok + "\n",
		"\xef\xbb\xbf\x00" + ok + "\r\n", "noise {\"a\":1} " + ok, strings.Repeat("{\"", 40) + "\"desktop.",
		`{"type":"desktop.bid.response","request_id":"q","bid":1e400}`, `{"type":"desktop.message","text":"x","message_id":"m"}`,
		`{"type":"desktop.local_prompt.response","request_id":"q","metrics":{"latency_ms":-0.0}}`, strings.Repeat("[", 5000) + `"desktop.`,
		`{"type":"desktop.message","kind":"blocker","message_id":"m","payload":{"a":[1]},"requires_ack":true}`, `{"type":"desktop.message","kind":{},"message_id":"m"}`,
		`{"type":"desktop.ack","message_ids":["m",""]}`, `{"type":"desktop.ack","message_ids":["m1","m2"]}` + "\n" + ok, `{"type":"desktop.claim","task":"t"}`,
		`{"type":"desktop.call","call_id":"c","calls":[{"agent_name":"a","task":"t"}]}`, `{"tYpe":"desktop.call","call_id":"c"}`, strings.Repeat("x", 3000) + "\n" + ok,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		floor := refuser{t}
		q := inflight.NewQueue(func() endpoint.Floor { return floor })
		w := newWire(io.Discard, 2048, 3, q)
		x, err := w.begin(t.Context(), withLimits(endpoint.Prompt{Kind: endpoint.Turn, Request: "q", MaxOutputChars: 20}))
		if x == nil || err != nil {
			t.Fatal(x, err)
		}
		if err := w.Read(bytes.NewReader(output)); err != io.EOF {
			t.Fatal(err)
		}
		w.End(endpoint.ErrExited)
		q.Close(true)
		if len(x.Result()) != 1 {
			t.Fatalf("%d results", len(x.Result()))
		}
		checkResult(t, <-x.Result())
	})
}

// checkResult checks a result against the limits of its prompt.
func checkResult(t *testing.T, r inflight.Result) {
	t.Helper()
	if r.Err != nil {
		for _, known := range []error{endpoint.ErrProtocol, endpoint.ErrTooLarge, endpoint.ErrAgent, endpoint.ErrExited} {
			if errors.Is(r.Err, known) {
				return
			}
		}
		t.Fatalf("an error of unknown kind: %v", r.Err)
	}
	p := r.Reply
	switch {
	case p.Outcome != endpoint.Said && p.Outcome != endpoint.Passed && p.Outcome != endpoint.Refused,
		(p.Outcome == endpoint.Said) != (strings.TrimSpace(p.Text) != ""),
		utf8.RuneCountInString(p.Text) > 20, !utf8.ValidString(p.Text),
		p.Usage.OutOfRange() != "", p.ToolRounds != 0, p.Bid != nil && p.Outcome == endpoint.Said,
		p.Confidence != nil && !(*p.Confidence >= 0 && *p.Confidence <= 1):
		t.Fatalf("bad reply %+v", p)
	}
}

// A refuser is a floor that refuses everything, and checks the bounds of signals.
type refuser struct{ t *testing.T }

// Raise refuses everything.
func (r refuser) Raise(_ context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	m := s.Post
	switch {
	case s.Kind == endpoint.SignalAck && (len(s.Of) == 0 || len(s.Of) > maxAcks || slices.Contains(s.Of, "")),
		s.Kind == endpoint.SignalClaim && (s.Code == "" || len(s.Code) > maxID),
		m != nil && (s.Kind != endpoint.SignalMessage || m.Kind == "" || utf8.RuneCountInString(m.Text) > 20 || len(m.Payload) > 0 && !json.Valid(m.Payload)):
		r.t.Errorf("signal %+v %+v", s, m)
	}
	return endpoint.Answer{}, nil
}

// Show drops live text.
func (refuser) Show(string) {}

func (refuser) ShowTool(endpoint.ToolCall) {}

// FuzzRequest feeds arbitrary requests to the agent's side.
func FuzzRequest(f *testing.F) {
	b, err := encodeLine(requestOf(endpoint.Prompt{Request: "q", You: endpoint.Seat{ID: "me"}, Hints: []byte("{}")}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"type":"desktop.bid.request","request_id":"q","history":[{"role":"local_agent","text":"x"}]}` + "\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		_ = Serve(t.Context(), bytes.NewReader(in), &out, scripted.New())
		for l := range bytes.Lines(out.Bytes()) {
			if err := strict.Check(bytes.TrimSpace(l), maxDepth, replyKeys); err != nil {
				t.Fatalf("%q: %v", l, err)
			}
		}
	})
}

// TestRoundTrip checks that each side reads what the other one writes.
func TestRoundTrip(t *testing.T) {
	text := rapid.StringN(0, 200, -1)
	share := rapid.Custom(func(t *rapid.T) *float64 {
		if rapid.Bool().Draw(t, "none") {
			return nil
		}
		v := rapid.Float64Range(0, 1).Draw(t, "share")
		return &v
	})
	rapid.Check(t, func(t *rapid.T) {
		p := withLimits(endpoint.Prompt{
			Kind: endpoint.Turn, Request: text.Draw(t, "request"), Objective: text.Draw(t, "objective"), Mode: "manual",
			You: endpoint.Seat{ID: "me", Domains: []string{text.Draw(t, "domain")}}, Summary: text.Draw(t, "summary"),
			History:      []endpoint.Line{{From: "me", Own: true, Text: text.Draw(t, "own")}},
			CatchUp:      []endpoint.Line{{From: "you", Text: text.Draw(t, "newest")}},
			Mail:         []endpoint.Mail{{From: "you", Post: endpoint.Post{ID: "m1", Kind: "decision", Text: text.Draw(t, "mail"), Payload: json.RawMessage(`{"a":1}`), RequiresAck: true}}},
			AllowToolUse: true, MaxToolRounds: 3, MaxOutputChars: 1000,
		})
		b, err := encodeLine(requestOf(p))
		if err != nil {
			t.Fatal(err)
		}
		back, err := promptOf(bytes.TrimSuffix(b, []byte("\n")))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, p) {
			t.Fatalf("prompt: got\n%+v, want\n%+v", back, p)
		}
		want := endpoint.Reply{Outcome: endpoint.Said, Text: "x" + text.Draw(t, "text"), Confidence: share.Draw(t, "confidence"), ToolRounds: rapid.IntRange(0, 3).Draw(t, "rounds")}
		if rapid.Bool().Draw(t, "known") {
			input := rapid.Int64Range(0, endpoint.MaxTokens).Draw(t, "in")
			want.Usage = endpoint.Usage{Known: true, Input: input, Output: 3, CachedInput: input / 2, Reasoning: 1}
		}
		if rapid.Bool().Draw(t, "handed") {
			want.Handoff = &endpoint.Handoff{To: "dba", Reason: text.Draw(t, "why")}
		}
		if rapid.Bool().Draw(t, "priced") {
			want.Usage.CostKnown, want.Usage.Cost = true, rapid.Int64Range(0, endpoint.MaxCost).Draw(t, "cost")
		}
		got, f := transfer(t, p, want)
		if f != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("reply: got\n%+v (%+v), want\n%+v", got, f, want)
		}
		p.Kind = endpoint.Bid
		if got, f := transfer(t, p, endpoint.Reply{Bid: &confident}); f != nil || got.Bid == nil || math.Abs(*got.Bid-confident) > 0 {
			t.Fatalf("bid: got %+v (%+v)", got, f)
		}
	})
}

var confident = 0.9

// transfer encodes a reply as the agent does and reads it as the host does.
func transfer(t *rapid.T, p endpoint.Prompt, r endpoint.Reply) (endpoint.Reply, *fault) {
	b, err := encodeLine(responseTo(p, r, nil))
	if err != nil {
		t.Fatal(err)
	}
	f, _ := findFrame(b)
	if f.err != nil || f.typ == "" {
		t.Fatalf("%s: %+v", b, f)
	}
	response, err := responseOf(f)
	if err != nil || response.RequestID != p.Request {
		t.Fatalf("%s: %v", b, err)
	}
	return replyTo(p, response)
}

// TestServeRefuses checks that the agent ends when the host breaks the protocol.
func TestServeRefuses(t *testing.T) {
	for _, in := range []string{"x\n", `{"type":"desktop.other"}` + "\n", `{"type":"desktop.bid.request","Type":"x"}` + "\n"} {
		if err := Serve(t.Context(), strings.NewReader(in), io.Discard, scripted.New()); err == nil {
			t.Errorf("%q is accepted", in)
		}
	}
	var out bytes.Buffer
	step := scripted.Step{Text: "hello", Acts: scripted.Acts{Messages: []scripted.Message{{To: "dba", Text: "psst"}}}}
	b, err := encodeLine(requestOf(endpoint.Prompt{Request: "q"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := Serve(t.Context(), bytes.NewReader(b), &out, scripted.New(step)); err != nil {
		t.Fatal(err)
	}
	var message, answer map[string]any
	first, second, _ := strings.Cut(out.String(), "\n")
	if err := errors.Join(json.Unmarshal([]byte(first), &message), json.Unmarshal([]byte(second), &answer)); err != nil {
		t.Fatal(err)
	}
	if message["text"] != "psst" || answer["draft_message"] != "hello" {
		t.Errorf("got %s", out.String())
	}
}
