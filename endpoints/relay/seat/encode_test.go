package seat

import (
	"errors"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// TestEncodeLongPrompt checks that a prompt which does not fit loses its oldest
// messages and says so, and that new messages are never lost.
func TestEncodeLongPrompt(t *testing.T) {
	trace := envelope.NewTrace("t", relaytest.NewID(t).String(), "mine")
	p := prompt("req_1", "newest")
	for i := range 100 {
		p.History = append(p.History, endpoint.Line{Seq: int64(i), From: "ann", Text: strings.Repeat("\"", 5_000)})
	}
	b, err := encode(p, "theirs", "", false, trace)
	if err != nil || len(b) > session.MaxMessage {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	e, err := envelope.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	var q wire.Request
	if err := e.DecodeBody(&q); err != nil {
		t.Fatal(err)
	}
	if newest(q.Prompt("theirs", known)) != "newest" || len(q.History) == 0 || q.Omissions == nil || q.Omissions.Unsent != 100-len(q.History) {
		t.Errorf("%d messages are left, %+v", len(q.History), q.Omissions)
	}
	p.History, p.CatchUp[0].Text = nil, strings.Repeat("x", session.MaxMessage)
	if _, err := encode(p, "theirs", "", false, trace); !errors.Is(err, endpoint.ErrTooLarge) {
		t.Errorf("new messages that do not fit: %v", err)
	}
}

// known is the record of a device that knows every text.
func known(string) bool { return true }
