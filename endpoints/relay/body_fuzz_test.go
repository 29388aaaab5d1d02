package relay

import (
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
)

// FuzzBodies reads bodies of another device as requests, answers and signs of
// life: whatever they are, what comes through is within its bounds.
func FuzzBodies(f *testing.F) {
	p := prompt("req_1", "hello")
	p.Hints = []byte(`{"a":[1]}`)
	half := 0.5
	q := questionOf(p)
	q.Knows = "m1"
	for _, v := range []any{
		q,
		answer{Status: statusOK, Outcome: endpoint.Said, Text: "yes", Usage: &usage{1, 2}, Confidence: &half, Memory: "m1"},
		answer{Status: statusError, Code: codeForgot, Reason: "gone"},
		answer{Status: statusOK, Bid: &half},
		message{"you", "psst"},
		status{stateThinking},
		status{stateAnew},
		status{},
	} {
		f.Add([]byte(body(v)))
	}
	f.Add([]byte(`{"state":"thinking","state":"anew"}`))
	f.Add([]byte(`{"State":"thinking"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e := envelope.Envelope{ID: "req_1", Type: envelope.TurnResponse, Body: b}
		var q question
		if e.DecodeBody(&q) == nil && q.check() == nil {
			if got := q.prompt(); got.Timeout < 0 || got.Timeout > 24*time.Hour || !got.You.SameOwner || got.You.Owner != "" || len(q.Knows) > maxMemory {
				t.Errorf("a request asks %+v", got)
			}
		}
		r, breach := read(p, e)
		if n := utf8.RuneCountInString(r.reply.Text); n > p.MaxOutputChars || len(r.memory) > maxMemory && breach == nil && r.err == nil {
			t.Errorf("an answer of %d characters with the memory %q", n, r.memory)
		}
		if breach == nil && r.err == nil && r.reply.Outcome == "" {
			t.Errorf("an answer without an outcome: %+v", r)
		}
		var s status
		if e.DecodeBody(&s) == nil {
			back, err := json.Marshal(s)
			if err != nil || !utf8.Valid(back) {
				t.Errorf("a status that cannot be written: %q, %v", s.State, err)
			}
		}
	})
}
