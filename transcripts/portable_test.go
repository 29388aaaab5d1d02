package transcripts

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

const secretWord = "canary-7f3a"

// meeting returns a room with every kind of event that a transcript shows.
func meeting() []room.Event {
	record := &policy.Record{
		Decision: 1, Policy: "mention", Digest: "5f1c", Through: 4, Log: "log " + secretWord, StateJSON: policy.JSON(`"` + secretWord + `"`),
	}
	said := func(id, from string, v room.Visibility, text string) room.Message {
		return room.Message{ID: id, Run: "r_1", From: from, To: room.Broadcast, Kind: room.KindUtterance, Visibility: v, Text: text, Summary: "in short"}
	}
	confidence := 0.8
	b := eventBuilder{at: time.Date(2026, 2, 27, 9, 0, 0, 0, time.UTC)}
	for _, x := range []struct {
		actor string
		body  room.Body
	}{
		{room.ActorHost, room.Opened{Spec: room.Spec{
			Room: "r_1", Name: "Review <b>", Objective: "Decide about the *migration*", Secret: secretWord, Dir: "/home/" + secretWord,
			Policy: room.PolicyRef{Use: "mention", Name: "mention", Digest: "5f1c", Settings: policy.JSON(`{"key":"` + secretWord + `"}`)},
		}}},
		{room.ActorHost, room.Joined{Participant: room.Participant{ID: "dba", Name: "DBA", Kind: policy.Local, Role: "databases", Instructions: secretWord, Endpoint: policy.JSON(`{"command":"` + secretWord + `"}`)}}},
		{room.ActorHost, room.Joined{Participant: room.Participant{ID: "sec", Kind: policy.Remote, Owner: "mallory"}}},
		{room.ActorHost, room.Joined{Participant: room.Participant{ID: "yuki", Kind: policy.Human}}},
		{"yuki", room.MessagePosted{Message: said("m1", "yuki", room.UserVisible, "Hello,\nsee [here](javascript:alert(1)) or https://example.org/a?b=1.\n```\ncode <script>\n```")}},
		{room.ActorPolicy, room.TurnGranted{Turn: 1, Participant: "dba", Reason: "addressed", Confidence: &confidence, Record: record, Scores: []policy.Score{{Agent: "dba", Score: 0.8}, {Agent: "sec", Score: 0.1}}}},
		{"dba", room.TurnDrafted{Turn: 1, Draft: "d1", Message: said("m2", "dba", room.Internal, "draft "+secretWord), Why: "manual"}},
		{"yuki", room.TurnEdited{Turn: 1, Draft: "d2", Text: "edited " + secretWord}},
		{"yuki", room.TurnApproved{Turn: 1, Draft: "d2"}},
		{"dba", room.MessagePosted{Turn: 1, Message: said("m2", "dba", room.Internal, "edited "+secretWord), Latency: 1500 * time.Millisecond, Usage: room.Usage{Known: true, Input: 100, Output: 20}}},
		{room.ActorPolicy, room.RoundDeclined{Reason: "nobody is addressed", Retry: 5 * time.Second, Record: *record}},
		{room.ActorPolicy, room.TurnGranted{Turn: 2, Participant: "sec", Reason: "asked \x1b[31mnow\u202e", Record: record}},
		{"sec", room.TurnFailed{Turn: 2, Code: "AGENT-TIMEOUT", Error: "no reply within 60 s"}},
		{room.ActorPolicy, room.TurnGranted{Turn: 3, Participant: "sec"}},
		{"sec", room.MessagePosted{Turn: 3, Message: said("m3", "sec", room.UserRedacted, "details "+secretWord), Latency: 500 * time.Millisecond, Auto: true}},
		{room.ActorPolicy, room.TurnGranted{Turn: 4, Participant: "dba"}},
		{"dba", room.TurnPassed{Turn: 4, Reason: "nothing to add"}},
		{"dba", room.SummaryMade{By: "dba", Through: 9, Text: "sum of " + secretWord}},
		{room.ActorHost, room.SeatChanged{Participant: "sec", Standing: room.Muted, Reason: "too loud"}},
		{room.ActorRoom, room.Stopped{Cause: room.CauseLimit, Name: "maxTurns", Reason: "4 of 4 turns"}},
	} {
		b.clock += 10 * time.Second
		b.at = b.at.Add(10 * time.Second)
		b.add(x.actor, x.body)
	}
	return b.events
}

// chainOf returns entries with a hash chain, as a log engine does.
func chainOf(t testing.TB, events []room.Event) []log.Entry {
	t.Helper()
	entries, err := log.Seal(0, events)
	if err != nil {
		t.Fatal(err)
	}
	var last [32]byte
	for i := range entries {
		entries[i].Hash = log.Link(last, entries[i].Seq, entries[i].Commit)
		last = entries[i].Hash
	}
	return entries
}

func each(entries []log.Entry) iter.Seq2[log.Entry, error] {
	return func(yield func(log.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func write(t testing.TB, h Header, entries []log.Entry) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, h, each(entries)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func read(s string) (Header, []log.Entry, error) {
	r, err := NewReader(strings.NewReader(s), "room.jsonl")
	if err != nil {
		return Header{}, nil, err
	}
	var all []log.Entry
	for e, err := range r.Entries() {
		if err != nil {
			return r.Header, all, err
		}
		all = append(all, e)
	}
	return r.Header, all, nil
}

func TestPortableIsLossless(t *testing.T) {
	entries := chainOf(t, meeting())
	entries[4].Redacted, entries[4].Raw, entries[4].Salt, entries[4].Event = true, nil, nil, room.Event{Seq: 5}
	entries[6].Redacted, entries[6].Raw, entries[6].Salt, entries[6].Event = true, nil, nil, entries[6].Event.Redacted()
	for name, h := range map[string]Header{
		"chain":    {Room: "r_1", Level: All, Chain: true, Events: int64(len(entries))},
		"no chain": {Room: "r_1", Level: All},
	} {
		first := write(t, h, entries)
		got, again, err := read(first)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if second := write(t, got, again); second != first {
			t.Errorf("%s: a second write differs:\n%s\n%s", name, first, second)
		}
		for i := range entries {
			if !bytes.Equal(again[i].Raw, entries[i].Raw) || h.Chain && again[i].Hash != entries[i].Hash {
				t.Errorf("%s: event %d is %+v, was %+v", name, i+1, again[i], entries[i])
			}
		}
	}
}

// TestPortableFindsEveryFlip flips one bit in each byte of the file.
func TestPortableFindsEveryFlip(t *testing.T) {
	entries := chainOf(t, meeting()[:6])
	whole := write(t, Header{Room: "r_1", Level: All, Chain: true, Events: 6}, entries)
	lines := strings.SplitAfterN(whole, "\n", 2)
	for i := range lines[1] {
		b := []byte(lines[1])
		b[i] ^= 0x01
		_, got, err := read(lines[0] + string(b))
		if err == nil && !sameEntries(got, entries) {
			t.Fatalf("flip at %d is not detected: %q", i, b[max(0, i-20):min(len(b), i+20)])
		}
	}
	for i := range whole {
		if _, got, err := read(whole[:i]); err == nil && !sameEntries(got, entries) {
			t.Fatalf("%d of %d bytes are accepted as a whole file", i, len(whole))
		}
	}
}

func sameEntries(a, b []log.Entry) bool {
	return slices.EqualFunc(a, b, func(a, b log.Entry) bool { return bytes.Equal(a.Raw, b.Raw) && a.Hash == b.Hash })
}

func TestPortableRefused(t *testing.T) {
	entries := chainOf(t, meeting()[:3])
	whole := write(t, Header{Room: "r_1", Level: All, Chain: true, Events: 3}, entries)
	line := strings.SplitAfter(whole, "\n")
	for name, c := range map[string]struct{ file, want string }{
		"empty":        {"", "room.jsonl"},
		"newer":        {strings.Replace(whole, `pt":1`, `pt":9`, 1), "reads 1 to 1"},
		"level":        {strings.Replace(whole, `"all"`, `"some"`, 1), `level "some"`},
		"unknown key":  {strings.Replace(whole, `"room"`, `"rooms"`, 1), `unknown key "rooms"`},
		"gap":          {line[0] + line[1] + line[3], "room.jsonl:3: event 2 is missing: event 3 follows event 1"},
		"swapped":      {line[0] + line[2] + line[1], "room.jsonl:2: event 1 is missing: event 2 follows event 0"},
		"cut":          {line[0] + line[1], "2 of 3 events are missing"},
		"without salt": {line[0] + strings.Replace(line[1], `"salt"`, `"solt"`, 1), `unknown key "solt"`},
		"text changed": {line[0] + strings.Replace(line[1], "Decide", "decide", 1), "room.jsonl:2: the chain breaks at event 1"},
		"neither":      {line[0] + "{}\n", `"event" and "redacted" are missing`},
		"chain below":  {strings.Replace(whole, `"all"`, `"internal"`, 1), "level internal cannot have a chain"},
	} {
		_, _, err := read(c.file)
		var p *problem.Error
		if !errors.As(err, &p) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestPortableLevels checks the content of every event at each level (V1).
func TestPortableLevels(t *testing.T) {
	entries := chainOf(t, meeting())
	for level, want := range map[Level]struct {
		secret bool
		texts  []string // of m1, m2 and m3
	}{
		UserVisible:  {false, []string{"Hello", "", "in short"}},
		UserRedacted: {true, []string{"Hello", "", "details " + secretWord}},
		Internal:     {true, []string{"Hello", "edited " + secretWord, "details " + secretWord}},
	} {
		file := write(t, Header{Room: "r_1", Level: level}, entries)
		if strings.Contains(file, secretWord) != want.secret {
			t.Errorf("%s: secret shown: %v\n%s", level, !want.secret, file)
		}
		for _, never := range []string{"log " + secretWord, "/home/", `"command":"` + secretWord, `"key":`, `state_json`} {
			if strings.Contains(file, never) {
				t.Errorf("%s: shows %s", level, never)
			}
		}
		h, got, err := read(file)
		if err != nil || h.Level != level || len(got) != len(entries) {
			t.Fatalf("%s: %d events, %v", level, len(got), err)
		}
		var texts []string
		for _, e := range got {
			if m, ok := e.Event.Body.(room.MessagePosted); ok {
				texts = append(texts, m.Message.Text)
			}
		}
		for i, text := range texts {
			if !strings.HasPrefix(text, want.texts[i]) || want.texts[i] == "" && text != "" {
				t.Errorf("%s: message %d reads %q, want %q", level, i, text, want.texts[i])
			}
		}
		if again := write(t, h, got); again != file {
			t.Errorf("%s: a second write differs", level)
		}
	}
}

func FuzzPortable(f *testing.F) {
	entries := chainOf(f, meeting())
	f.Add([]byte(write(f, Header{Room: "r_1", Level: All, Chain: true}, entries)))
	f.Add([]byte(write(f, Header{Room: "r_1", Level: UserVisible}, entries)))
	f.Add([]byte(oneLine(planning)))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := NewReader(bytes.NewReader(file), "fuzz")
		if err != nil || !r.Portable() {
			return
		}
		var all []log.Entry
		for e, err := range r.Entries() {
			if err != nil {
				return
			}
			all = append(all, e)
		}
		if r.Header.Events > 0 && int64(len(all)) != r.Header.Events {
			t.Errorf("%d events, the header says %d", len(all), r.Header.Events)
		}
		var b bytes.Buffer
		if err := Write(&b, r.Header, each(all)); err != nil {
			if r.Header.Level == All {
				t.Fatal(err)
			}
			return
		}
		first := b.String()
		h, again, err := read(first)
		if err != nil {
			t.Fatal(err)
		}
		if second := write(t, h, again); second != first {
			t.Error("a second write differs")
		}
	})
}

func ExampleNewReader() {
	r, err := NewReader(strings.NewReader(`{"moot_transcript":1,"room":"r_1","level":"all"}
{"event":{"v":1,"seq":1,"id":"e1","type":"room.opened","actor":"host","epoch":1,"at":"2026-02-27T09:00:00Z","clock_ns":0,"body":{"spec":{"room":"r_1","objective":"agree","secret":"","limits":{},"context":{},"policy":{"use":"mention","name":"mention","digest":""}}}}}
`), "example.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range r.Entries() {
		fmt.Println(e.Seq, e.Event.Body.Type(), err)
	}
	// Output: 1 room.opened <nil>
}
