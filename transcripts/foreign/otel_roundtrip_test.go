package foreign

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/folkmoot/moot/transcripts"
)

// TestSpansRoundTrip exports conversations as spans and reads them again.
func TestSpansRoundTrip(t *testing.T) {
	const talks = `{"id":"plan/1","participants":[{"id":"U1","name":"Ana","kind":"human"},{"id":"dba","kind":"agent"},{"id":"sh","kind":"tool"}],"turns":[` +
		`{"i":0,"speaker":"U1","text":"dba, may we?","t_s":0,"addressees":["dba"]},{"i":1,"speaker":"dba","text":"look first","t_s":1.5,"channel":"thought"},` +
		`{"i":2,"speaker":"dba","text":"count","t_s":1.5,"addressees":["sh","U1"]},{"i":3,"speaker":"sh","text":"0 \"rows\"\n","t_s":2},` +
		`{"i":4,"speaker":"U1","text":"thanks","t_s":3,"kind":"request","message_id":"r4","correlation_id":"r3"},{"i":5,"speaker":"U1","text":"thanks","t_s":3}],"extra":{"objective":"drop a table"}}`
	for c, err := range transcripts.ReadConversations(bytes.NewReader([]byte(talks)), "talks") {
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := transcripts.WriteSpans(&b, transcripts.Entries(c.Events()), transcripts.All); err != nil {
			t.Fatal(err)
		}
		format, all, err := read(t, b.Bytes(), "spans.json", "")
		if err != nil || format != OTel || len(all) != 1 {
			t.Fatalf("%s, %d conversations, %v", format, len(all), err)
		}
		got := all[0]
		sound(t, got)
		if got.ID != c.ID || got.Objective() != c.Objective() {
			t.Errorf("%s %q came back as %s %q", c.ID, c.Objective(), got.ID, got.Objective())
		}
		byID := func(a, b transcripts.Participant) int { return bytes.Compare([]byte(a.ID), []byte(b.ID)) }
		slices.SortFunc(got.Participants, byID)
		slices.SortFunc(c.Participants, byID)
		if !reflect.DeepEqual(got.Participants, c.Participants) {
			t.Errorf("participants %+v, want %+v", got.Participants, c.Participants)
		}
		for i, turn := range got.Turns {
			want := c.Turns[i]
			if want.Seconds != nil && *turn.Seconds == *want.Seconds {
				turn.Seconds, want.Seconds = nil, nil
			}
			if !reflect.DeepEqual(turn, want) {
				t.Errorf("turn %+v, want %+v", turn, want)
			}
		}
		if len(got.Turns) != len(c.Turns) {
			t.Errorf("%d turns, want %d", len(got.Turns), len(c.Turns))
		}
	}
}

// TestSpansVisibility checks that an export for all readers hides internal messages.
func TestSpansVisibility(t *testing.T) {
	const talk = `{"id":"x","participants":[{"id":"a","kind":"agent"},{"id":"b","kind":"agent"}],"turns":[` +
		`{"i":0,"speaker":"a","text":"the secret plan","channel":"thought"},{"i":1,"speaker":"b","text":"hello"}]}`
	for c, err := range transcripts.ReadConversations(bytes.NewReader([]byte(talk)), "talk") {
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := transcripts.WriteSpans(&b, transcripts.Entries(c.Events()), transcripts.UserVisible); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b.Bytes(), []byte("secret plan")) {
			t.Errorf("an internal message is in the export: %s", b.Bytes())
		}
		_, all, err := read(t, b.Bytes(), "spans.json", "")
		if err != nil || len(all) != 1 || len(all[0].Turns) != 1 || all[0].Report.LeftOut() != 2 {
			t.Errorf("%v, %s", err, told(all))
		}
	}
}
