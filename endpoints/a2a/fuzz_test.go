package a2a

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// An aServer answers every message with a text, and has a card.
type aServer struct{ card, text string }

func (s aServer) RoundTrip(q *http.Request) (*http.Response, error) {
	text, kind := s.text, q.Header.Get("Accept")
	if q.Method == http.MethodGet {
		text = s.card
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(iotest.HalfReader(strings.NewReader(text)))}, nil
}

// FuzzAnswer checks that every answer of a server ends in a reply within the limits
// or in an error of a known kind, although the library reads it.
func FuzzAnswer(f *testing.F) {
	const card = `{"supportedInterfaces":[{"url":"https://example.org/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true}}`
	for _, s := range []string{
		`{"result":{"message":{"parts":[{"text":"Yes."},null,{"data":null},{"raw":"eA=="}]}}}`,
		`{"result":{"task":{"id":"t","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"parts":[{"text":"Which?"}]}},"artifacts":[null,{"artifactId":"a","parts":[{"text":"PASS"}]}]}}}`,
		"{\"result\":{\"artifactUpdate\":{\"taskId\":\"t\",\"append\":true,\"artifact\":{\"artifactId\":\"a\",\"parts\":[{\"text\":\"x\"}]}}}}\n\ndata: {\"result\":{\"statusUpdate\":{\"taskId\":\"t\",\"status\":{\"state\":\"TASK_STATE_COMPLETED\"}}}}",
		`{"result":{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_REJECTED"}}}}`,
		`{"error":{"code":-32001,"message":"x","data":[null]}}`, `{"error":{"code":-31401,"data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","metadata":[1]}]}}`,
		`null`, `{"result":null}`, ``,
	} {
		f.Add("data: "+s+"\n\n", card)
	}
	f.Add("", `{"supportedInterfaces":[null,{}],"capabilities":{"extensions":[{"required":true}]},"securitySchemes":{"x":null}}`)
	f.Fuzz(func(t *testing.T, text, card string) {
		e := New(Config{URL: "https://example.org", Transport: aServer{card, text}})
		defer e.Close()
		r, err := e.Speak(t.Context(), endpoint.Prompt{Kind: endpoint.Turn, Text: "x", MaxOutputChars: 20}, nil)
		if err != nil {
			if !errors.Is(err, endpoint.ErrAgent) && !errors.Is(err, endpoint.ErrProtocol) && !errors.Is(err, endpoint.ErrTooLarge) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		said := r.Outcome == endpoint.Said && strings.TrimSpace(r.Text) != "" && utf8.ValidString(r.Text)
		silent := (r.Outcome == endpoint.Passed || r.Outcome == endpoint.Refused && r.Reason != "") && r.Text == ""
		if !said && !silent || utf8.RuneCountInString(r.Text) > 20 || r.Usage != (endpoint.Usage{}) {
			t.Fatalf("got %+v", r)
		}
	})
}
