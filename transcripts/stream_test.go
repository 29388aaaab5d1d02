package transcripts_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/transcripts"
)

// TestReadsAStreamOfEvents reads the output of `moot run -o jsonl`, which has no
// header.
func TestReadsAStreamOfEvents(t *testing.T) {
	spec := room.Spec{Room: "r1", Objective: "count", Policy: room.PolicyRef{Use: "mention", Name: "mention"}}
	var s room.State
	var lines bytes.Buffer
	for _, c := range []room.Command{
		{Actor: room.ActorHost, Do: room.Open{Spec: spec, Participants: []room.Participant{{ID: "a"}, {ID: "b"}}}},
		{Actor: room.ActorHost, Do: room.Stop{}},
	} {
		events, err := s.Decide(c, room.Now{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			s.Apply(e)
			line, err := room.MarshalEvent(e)
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(append(line, '\n'))
		}
	}
	whole := lines.String()
	r, err := transcripts.NewReader(strings.NewReader(whole), "demo.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if !r.Portable() || r.Header.Room != "r1" || r.Header.Level != transcripts.Internal {
		t.Fatalf("read as %+v", r.Header)
	}
	var back bytes.Buffer
	for e, err := range r.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		back.Write(append(e.Raw, '\n'))
	}
	if back.String() != whole {
		t.Errorf("came back as\n%s\nwas\n%s", back.String(), whole)
	}

	cut := whole[strings.Index(whole, "\n")+1:]
	if r, err := transcripts.NewReader(strings.NewReader(cut), "tail.jsonl"); err == nil && r.Portable() {
		t.Error("a stream that does not begin with room.opened is accepted")
	}
}
