package transcripts

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

const planning = `{"id":"planning/1","participants":[{"id":"yuki","name":"Yuki S.","kind":"human"},{"id":"dba","kind":"agent","role":"database"},{"id":"Shell","kind":"tool"}],"turns":[
{"i":0,"speaker":"yuki","text":"dba, may we drop it?","t_s":-4,"addressees":["dba"]},
{"i":1,"speaker":"dba","text":"I must look.","t_s":0.5,"channel":"thought"},
{"i":2,"speaker":"dba","text":"Ask the shell","t_s":0.25},
{"i":3,"speaker":"Shell","text":"0 rows","addressees":["dba","yuki"]}],"extra":{"objective":"drop a table"}}`

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", "") }

func readAll(t *testing.T, s string) ([]*Conversation, error) {
	t.Helper()
	var all []*Conversation
	for c, err := range ReadConversations(strings.NewReader(s), "talk.jsonl") {
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

func TestConversationEvents(t *testing.T) {
	all, err := readAll(t, oneLine(planning))
	if err != nil || len(all) != 1 {
		t.Fatalf("%d conversations, %v", len(all), err)
	}
	events := all[0].Events()
	if len(events) != 1+3+4 {
		t.Fatalf("%d events", len(events))
	}
	spec := events[0].Body.(room.Opened).Spec
	if spec.Room != "planning/1" || spec.Objective != "drop a table" {
		t.Errorf("opened as %+v", spec)
	}
	for i, want := range []room.Participant{
		{ID: "Shell", Kind: policy.Local, Role: "tool"},
		{ID: "dba", Kind: policy.Local, Role: "database"},
		{ID: "yuki", Name: "Yuki S.", Kind: policy.Human},
	} {
		if p := events[1+i].Body.(room.Joined).Participant; p.ID != want.ID || p.Name != want.Name || p.Kind != want.Kind || p.Role != want.Role {
			t.Errorf("seat %d is %+v, want %+v", i, p, want)
		}
	}
	for i, want := range []struct {
		from, to  string
		seen      room.Visibility
		clock     time.Duration
		mentions  string
		addressed string
	}{
		{"yuki", "dba", room.UserVisible, 0, "dba", "dba"},
		{"dba", room.Broadcast, room.Internal, 4500 * time.Millisecond, "", ""},
		{"dba", room.Broadcast, room.UserVisible, 4500 * time.Millisecond, "Shell", "Shell"},
		{"Shell", room.Broadcast, room.UserVisible, 4500 * time.Millisecond, "dba yuki", "dba yuki"},
	} {
		e := events[4+i]
		m := e.Body.(room.MessagePosted).Message
		if m.From != want.from || m.To != want.to || m.Visibility != want.seen || e.Clock != want.clock ||
			strings.Join(m.Mentions, " ") != want.mentions || strings.Join(m.Addressed, " ") != want.addressed {
			t.Errorf("message %d: clock %v, %+v", i, e.Clock, m)
		}
		if e.Seq != int64(5+i) || e.Actor != want.from {
			t.Errorf("message %d: seq %d actor %q", i, e.Seq, e.Actor)
		}
	}
}

func TestConversationWallTimes(t *testing.T) {
	all, err := readAll(t, `{"id":"x","participants":[{"id":"a","kind":"human"}],"turns":[`+
		`{"i":0,"speaker":"a","text":"","at":"2018-02-27T18:10"},{"i":1,"speaker":"a","text":"","at":"2018-02-27T18:12:30+01:00"},`+
		`{"i":2,"speaker":"a","text":"","at":"2018-02-27T18:12"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	events := all[0].Events()
	for i, want := range []time.Duration{0, 0, 2 * time.Minute} {
		if e := events[2+i]; e.Clock != want {
			t.Errorf("message %d at %v, want %v", i, e.Clock, want)
		}
	}
	if at := events[4].At; at.Format(time.RFC3339) != "2018-02-27T18:12:00Z" {
		t.Errorf("wall time %v", at)
	}
}

func TestConversationRefused(t *testing.T) {
	good := oneLine(planning)
	for name, c := range map[string]struct{ line, want string }{
		"not JSON":         {"hello", "talk.jsonl:2"},
		"cut":              {good[:len(good)-2], "unexpected end"},
		"two values":       {good + good, "after top-level value"},
		"no id":            {strings.Replace(good, `"planning/1"`, `""`, 1), `"id" is missing`},
		"no turns":         {`{"id":"x","participants":[{"id":"a","kind":"human"}]}`, `"turns" is missing`},
		"other shape":      {`{"id":"x","agent":"a","source":"s","license":"MIT","decisions":[]}`, `unknown key "agent"`},
		"unknown key":      {strings.Replace(good, `"text"`, `"txt"`, 1), `unknown key "txt"`},
		"key in caps":      {strings.Replace(good, `"id"`, `"ID"`, 1), `unknown key "ID"`},
		"repeated key":     {strings.Replace(good, `"i":0`, `"i":0,"i":0`, 1), `duplicate key "i"`},
		"repeated inside":  {strings.Replace(good, `{"objective":`, `{"objective":1,"objective":`, 1), `duplicate key "objective"`},
		"listed twice":     {strings.Replace(good, `"id":"dba"`, `"id":"yuki"`, 1), `"yuki" is listed twice`},
		"kind":             {strings.Replace(good, `"tool"`, `"bot"`, 1), `kind "bot"`},
		"stranger speaks":  {strings.Replace(good, `"speaker":"Shell"`, `"speaker":"shell"`, 1), `speaker "shell" is not a participant`},
		"stranger is told": {strings.Replace(good, `["dba"]`, `["eve"]`, 1), `addressee "eve"`},
		"place":            {strings.Replace(good, `"i":2`, `"i":3`, 1), `turns[2]: i is 3`},
		"time":             {strings.Replace(good, `"t_s":0.5`, `"at":"noon"`, 1), `"noon" is not an ISO time`},
		"year 1e400":       {strings.Replace(good, `0.25`, `1e400`, 1), `"turns[2].t_s" may not be the number 1e400`},
		"clock":            {strings.Replace(good, `0.25`, `1e300`, 1), `out of range`},
		"type":             {strings.Replace(good, `"text":"0 rows"`, `"text":0`, 1), `"turns[3].text" may not be a number`},
		"UTF-8":            {strings.Replace(good, "0 rows", "0 \xff", 1), "invalid UTF-8"},
		"deep":             {strings.Replace(good, `"drop a table"`, strings.Repeat("[", 99)+strings.Repeat("]", 99), 1), "nests deeper"},
	} {
		all, err := readAll(t, good+"\n"+c.line+"\n"+good)
		var p *problem.Error
		if !errors.As(err, &p) || p.Code != "TRANSCRIPT-READ" || p.Where != "talk.jsonl:2" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if len(all) != 1 {
			t.Errorf("%s: %d conversations before the error", name, len(all))
		}
	}
}

func TestConversationGzip(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte("\n" + oneLine(planning) + "\r\n\n" + oneLine(planning)))
	z.Close()
	whole := b.String()
	if all, err := readAll(t, whole); err != nil || len(all) != 2 {
		t.Errorf("%d conversations, %v", len(all), err)
	}
	if _, err := readAll(t, whole[:len(whole)-9]); err == nil {
		t.Error("a cut archive is read without an error")
	}
	if _, err := readAll(t, "\x1f\x8b rubbish"); err == nil {
		t.Error("rubbish behind gzip's magic is read without an error")
	}
}

func TestLineTooLong(t *testing.T) {
	_, err := readAll(t, `{"id":"`+strings.Repeat("x", MaxLine))
	if err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("got %v", err)
	}
}

// TestConversationsShared reads every shared transcript.
func TestConversationsShared(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "shared", "transcripts", "*.jsonl.gz"))
	if len(files) == 0 {
		t.Skip("the shared transcripts are not next to this checkout")
	}
	for _, name := range files {
		base := strings.TrimSuffix(filepath.Base(name), ".jsonl.gz")
		if base == "llmafia-decisions" || testing.Short() && base != "whowhen" {
			continue // another shape: decisions without turns
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for c, err := range ReadConversations(f, name) {
			if err != nil {
				t.Error(err)
				break
			}
			if events := c.Events(); len(events) != 1+len(c.Participants)+len(c.Turns) {
				t.Errorf("%s: %d events", c.ID, len(events))
			}
			n++
		}
		f.Close()
		if n == 0 {
			t.Errorf("%s holds nothing", name)
		}
	}
}

func FuzzConversation(f *testing.F) {
	for _, s := range []string{
		oneLine(planning), `{}`, `{"id":"a","id":"b"}`, `{"id":null,"turns":null}`, `{"ID":"a"}`, `{"id":"a","turns":[],"participants":[],"extra":{"a":1,"a":2}}`,
		`{"id":"\u00e9\ud83d\ude00","extra":[1e400,{"x":null}],"turns":[{"i":0,"speaker":"x","text":"\"\\","t_s":1e-3,"addressees":[]}]}`,
		`{"id":"a","extra":null} `, `{"id":"a","turns":[{"i":1.0}]}`, `{"id":"a"}x`, "{\"id\":\"\xff\"}", `{"id":"\ud800"}`, `[]`, `{"id":"a",}`,
	} {
		f.Add([]byte(s))
	}
	f.Add([]byte(`{"id":"x","participants":[{"id":"a","kind":"tool"}],"turns":[{"i":0,"speaker":"a","text":"","at":"2018-02-27T18:10"}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		c, err := decodeConversation(line)
		if err != nil {
			return
		}
		last := time.Duration(0)
		for _, e := range c.Events() {
			if e.Clock < last {
				t.Errorf("clock runs back to %v", e.Clock)
			}
			last = e.Clock
			if _, err := room.MarshalEvent(e); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestWallTime checks that choosing a layout gives the same result as trying all
// layouts.
func TestWallTime(t *testing.T) {
	tried := func(s string) (time.Time, bool) {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
			if at, err := time.Parse(layout, s); err == nil && at.Year() > 0 {
				return at.UTC(), true
			}
		}
		return time.Time{}, false
	}
	for _, s := range []string{
		"2008-07-14T12:18:03Z", "2008-07-14T12:18:03.25+02:00", "2008-07-14T12:18:03-05:00", "2008-07-14T12:18:03", "2008-07-14T12:18",
		"2008-07-14T2:18", "2008-07-14T2:18:03Z", "2008-07-14T12:18:03.5", "2008-07-14T12:18Z", "2008-07-14", "12:18", "2008-07-14 12:18:03",
		"0000-07-14T12:18:03Z", "2008-13-14T12:18", "T", "x", "2008-07-14T12:18:03T", "2008-07-14T12:18:", "2008-07-14T::Z",
	} {
		want, ok := tried(s)
		got, err := (&Turn{At: s}).wallTime()
		if ok != (err == nil) || !got.Equal(want) {
			t.Errorf("%q: %v, %v, want %v", s, got, err, want)
		}
	}
}
