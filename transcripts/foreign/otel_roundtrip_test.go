package foreign

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/transcripts"
)

// TestSpansRoundTrip exports conversations as spans and reads them again.
func TestSpansRoundTrip(t *testing.T) {
	const talks = `{"id":"plan/1","participants":[{"id":"U1","name":"Ana","kind":"human"},{"id":"dba","kind":"agent"},{"id":"sh","kind":"tool"},{"id":"late","kind":"agent"}],"turns":[` +
		`{"i":0,"speaker":"U1","text":"dba, may we?","t_s":0,"addressees":["dba"]},{"i":1,"speaker":"dba","text":"look first","t_s":1.5,"channel":"thought"},` +
		`{"i":2,"speaker":"dba","text":"count","t_s":1.5,"addressees":["sh","U1"]},{"i":3,"speaker":"sh","text":"0 \"rows\"\n","t_s":2},` +
		`{"i":4,"speaker":"U1","text":"thanks","t_s":3,"kind":"request","message_id":"r4","correlation_id":"r3"},{"i":5,"speaker":"U1","text":"thanks","t_s":3}],"decisions":[{"before":0,"agent":"dba","decision":"decline","t_s":0},{"before":4,"decision":"decline","t_s":2.5},{"before":6,"agent":"sh","decision":"decline","t_s":4},` +
		`{"before":6,"agent":"late","decision":"decline","t_s":4}],"extra":{"objective":"drop a table"}}`
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
		if !reflect.DeepEqual(got.Decisions, c.Decisions) || got.Report.Silences != len(c.Decisions) {
			t.Errorf("%d silences %+v, want %+v", got.Report.Silences, got.Decisions, c.Decisions)
		}
	}
}

// TestSpansOfPasses: turns that participants of a room passed come back as silences, and
// a span with another decision is refused.
func TestSpansOfPasses(t *testing.T) {
	said := func(turn int, from string) room.MessagePosted {
		return room.MessagePosted{Turn: turn, Message: room.Message{ID: "m", From: from, To: room.Broadcast, Kind: room.KindUtterance, Visibility: room.UserVisible, Text: from}}
	}
	var events []room.Event
	for i, body := range []room.Body{
		room.Opened{Spec: room.Spec{Room: "r_1"}},
		room.Joined{Participant: room.Participant{ID: "yuki", Kind: policy.Human}},
		room.Joined{Participant: room.Participant{ID: "dba", Name: "DBA", Kind: policy.Local}},
		said(0, "yuki"),
		room.TurnGranted{Turn: 1, Participant: "dba"},
		room.TurnPassed{Turn: 1, Reason: "nothing to add", Usage: room.Usage{Known: true, Output: 9}},
		said(0, "yuki"),
		room.RoundDeclined{Reason: "nobody is addressed"},
	} {
		events = append(events, room.Event{V: room.FormatVersion, Seq: int64(i + 1), Clock: time.Duration(i) * time.Second, Body: body})
	}
	var b bytes.Buffer
	if err := transcripts.WriteSpans(&b, transcripts.Entries(events), transcripts.UserVisible); err != nil {
		t.Fatal(err)
	}
	_, all, err := read(t, b.Bytes(), "spans.json", "")
	if err != nil || len(all) != 1 {
		t.Fatalf("%d conversations, %v", len(all), err)
	}
	sound(t, all[0])
	var got []string
	for _, d := range all[0].Decisions {
		got = append(got, fmt.Sprint(d.Before, " ", d.Agent, " ", d.Decision, " ", *d.Seconds))
	}
	want := []string{"1 dba decline 5", "2  decline 7"}
	if !slices.Equal(got, want) || len(all[0].Turns) != 2 || !slices.ContainsFunc(all[0].Participants, func(p transcripts.Participant) bool { return p.Name == "DBA" }) {
		t.Errorf("decisions %q of %d turns and %+v, want %q", got, len(all[0].Turns), all[0].Participants, want)
	}
	late := bytes.Replace(b.Bytes(), []byte(`"stringValue":"3"`), []byte(`"stringValue":"1e300"`), 1)
	if _, all, err = readWith(t, late, "spans.json", Options{}); err != nil || len(all) != 1 || len(all[0].Turns) != 1 {
		t.Errorf("a clock out of range: %v, %s", err, told(all))
	} else {
		sound(t, all[0])
	}
	odd := bytes.ReplaceAll(b.Bytes(), []byte(`{"stringValue":"pass"}`), []byte(`{"stringValue":"perhaps"}`))
	if _, _, err = read(t, odd, "spans.json", ""); err == nil || !strings.Contains(err.Error(), "must be decline or pass") {
		t.Errorf("another decision: %v", err)
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
