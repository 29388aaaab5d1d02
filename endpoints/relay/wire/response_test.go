package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/internal/strict"
)

// TestUsage reads what devices of this and of earlier releases state of a turn.
func TestUsage(t *testing.T) {
	p := endpoint.Prompt{Kind: endpoint.Turn}
	for body, want := range map[string]endpoint.Usage{
		`{"status":"ok","outcome":"passed"}`:                                                                                      {},
		`{"status":"ok","outcome":"passed","usage":{"input_tokens":9,"output_tokens":4}}`:                                         {Known: true, Input: 9, Output: 4}, // earlier releases
		`{"status":"ok","outcome":"passed","usage":{"input_tokens":9,"output_tokens":4,"reasoning_tokens":3}}`:                    {Known: true, Input: 9, Output: 4, Reasoning: 3},
		`{"status":"ok","outcome":"passed","cost_micros":120}`:                                                                    {CostKnown: true, Cost: 120},
		`{"status":"ok","outcome":"passed","cost_micros":0,"usage":{"input_tokens":9,"output_tokens":0,"cached_input_tokens":9}}`: {Known: true, Input: 9, CachedInput: 9, CostKnown: true},
	} {
		var a Response
		if err := (envelope.Envelope{Type: envelope.TurnResponse, Body: []byte(body)}).DecodeBody(&a); err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		r, v := a.Reply(p)
		if v != nil || r.Usage != want {
			t.Errorf("%s: %+v, %+v, want %+v", body, r.Usage, v, want)
		}
		back, v := ResponseOf(r).Reply(p)
		if v != nil || back.Usage != want {
			t.Errorf("%s: %+v, %+v after a round trip", body, back.Usage, v)
		}
	}
}

// TestUsageRefused: the other device has to check its agent.
func TestUsageRefused(t *testing.T) {
	for _, body := range []string{
		`{"status":"ok","outcome":"passed","usage":{"input_tokens":-1,"output_tokens":4}}`,
		`{"status":"ok","outcome":"passed","usage":{"input_tokens":9,"output_tokens":2000000000}}`,
		`{"status":"ok","outcome":"passed","usage":{"input_tokens":9,"output_tokens":4,"cached_input_tokens":10}}`,
		`{"status":"ok","outcome":"passed","usage":{"input_tokens":9,"output_tokens":4,"reasoning_tokens":-3}}`,
		`{"status":"ok","outcome":"passed","cost_micros":-1}`,
		`{"status":"ok","outcome":"passed","cost_micros":9000000000000000000}`,
	} {
		var a Response
		if err := (envelope.Envelope{Type: envelope.TurnResponse, Body: []byte(body)}).DecodeBody(&a); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if _, v := a.Reply(endpoint.Prompt{Kind: endpoint.Turn}); v == nil || v.Rule != "bad_metrics" {
			t.Errorf("%s is accepted: %+v", body, v)
		}
	}
}

// TestResponseHandoff checks that a hand-off passes to the other device on one line, and
// that an answer to a bid has none.
func TestResponseHandoff(t *testing.T) {
	b, err := json.Marshal(ResponseOf(endpoint.Reply{Outcome: endpoint.Passed, Handoff: &endpoint.Handoff{To: "dba", Reason: "locks\nare hers"}}))
	if err != nil || !strings.Contains(string(b), `"handoff":{"to":"dba","reason":"locks are hers"}`) {
		t.Fatalf("%s %v", b, err)
	}
	var a Response
	if err := strict.Decode(b, envelope.MaxDepth, &a); err != nil {
		t.Fatal(err)
	}
	if r, v := a.Reply(endpoint.Prompt{}); v != nil || r.Handoff == nil || *r.Handoff != (endpoint.Handoff{To: "dba", Reason: "locks are hers"}) {
		t.Errorf("%+v %v", r, v)
	}
	if r, v := a.Reply(endpoint.Prompt{Kind: endpoint.Bid}); v != nil || r.Handoff != nil {
		t.Errorf("a bid: %+v %v", r, v)
	}
}
