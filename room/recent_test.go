package room

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// TestIDsForgotten checks that a full set forgets the oldest ids, their content
// too, and no others.
func TestIDsForgotten(t *testing.T) {
	var ids idSet
	for i := range seenIDs + 3 {
		id := strconv.Itoa(i)
		ids.add(id, int64(i))
		ids.addContent(id, uint64(i))
	}
	ids.add("5", 99)
	for i := range seenIDs + 3 {
		id := strconv.Itoa(i)
		_, content := ids.Content[id]
		if kept := i >= 3; ids.has(id) != kept || content != kept {
			t.Fatalf("id %d: known %t, content %t", i, ids.has(id), content)
		}
	}
	if len(ids.At) != seenIDs || len(ids.Order) != seenIDs || len(ids.Content) != seenIDs || ids.At["5"] != 99 || ids.At["6"] != 6 || ids.Next != 3 {
		t.Errorf("%d ids, %d in order, %d contents, next %d", len(ids.At), len(ids.Order), len(ids.Content), ids.Next)
	}
	for i := range seenIDs {
		ids.add("again"+strconv.Itoa(i), 1)
	}
	if len(ids.At) != seenIDs || ids.has("5") || !ids.has("again0") {
		t.Errorf("%d ids after another round", len(ids.At))
	}
	ids.add("", 1)
	ids.addContent("", 1)
	if ids.has("") || len(ids.Content) != 0 {
		t.Error("the empty id is an id")
	}
}

// TestRecentEvents checks which events and texts a room remembers for its policy.
func TestRecentEvents(t *testing.T) {
	var r recent
	text := strings.Repeat("x", 128) // a whole number of them is recentBytes
	total := 2*recentEvents + 1
	for i := range total {
		r.push(policy.Event{Seq: int64(i + 1), Text: text, Bytes: len(text)})
		kept := slices.IndexFunc(r.Events, func(e policy.Event) bool { return e.Text != "" })
		n := len(r.Events) - kept
		if n != min(i+1, recentBytes/128) || kept != r.Texts || r.Bytes != 128*n {
			t.Fatalf("after %d events: %d texts from %d, counted %d bytes from %d", i+1, n, kept, r.Bytes, r.Texts)
		}
		if i+1 == 2*recentEvents && len(r.Events) != 2*recentEvents {
			t.Fatalf("%d events are kept of %d", len(r.Events), i+1)
		}
	}
	if len(r.Events) != recentEvents+1 || r.Events[0].Seq != int64(total-recentEvents) || cap(r.Events) < 2*recentEvents {
		t.Fatalf("%d events from %d", len(r.Events), r.Events[0].Seq)
	}
	for _, e := range r.Events[len(r.Events):cap(r.Events)][:recentEvents-1] {
		if e.Text != "" || e.Seq != 0 {
			t.Fatal("a dropped event is still referenced")
		}
	}
	if got := r.textsFrom(); got != r.Events[r.Texts].Seq {
		t.Errorf("texts from %d", got)
	}
	if got := new(recent).textsFrom(); got != 1<<62 {
		t.Errorf("texts of nothing from %d", got)
	}
	last := int64(total)
	for _, c := range []struct {
		after int64
		n     int
		want  int
		cut   bool
	}{
		{last, 10, 0, false},
		{last - 3, 10, 3, false},
		{last - 3, 3, 3, false},
		{last - 4, 3, 3, true},
		{0, 2 * recentEvents, recentEvents + 1, false},
	} {
		if evs, cut := r.after(c.after, c.n); len(evs) != c.want || cut != c.cut {
			t.Errorf("after(%d, %d): %d events, cut %t", c.after, c.n, len(evs), cut)
		}
	}
	short := recent{}
	for i := range recentEvents + 2 {
		short.push(policy.Event{Seq: int64(i + 1), Text: "x"})
	}
	if short.Texts != 2 || short.Bytes != recentEvents {
		t.Errorf("%d texts of one byte are dropped, %d bytes are left", short.Texts, short.Bytes)
	}
}

// TestInputBound checks that the bound of an input's size is never under its
// size, with texts that grow most when they are encoded.
func TestInputBound(t *testing.T) {
	c := strings.Repeat("\x01", 400)
	bid := policy.Bid{Reason: c}
	for name, in := range map[string]policy.Input{
		"objective":   {Objective: strings.Repeat(c, 30)},
		"constraints": {Constraints: slices.Repeat([]string{c}, 30)},
		"empty ones":  {Constraints: make([]string, 3000)},
		"settings":    {Config: policy.JSON(`"` + strings.Repeat("x", 9000) + `"`)},
		"state":       {State: policy.JSON(`"` + strings.Repeat("x", 9000) + `"`)},
		"agents":      {Agents: slices.Repeat([]policy.Agent{{ID: c, Name: c, Role: c, Domains: []string{c, c, c}, Bid: &bid}}, 20)},
		"tasks":       {Agents: slices.Repeat([]policy.Agent{{Tasks: slices.Repeat([]policy.Task{{ID: c, Title: c, State: c, After: []string{c, c}}}, 9)}}, 9)},
		"no tasks":    {Agents: slices.Repeat([]policy.Agent{{Tasks: slices.Repeat([]policy.Task{{}}, 400)}}, 9)},
		"hand-off":    {Handoff: &policy.Handoff{From: c, To: c, Reason: c}},
		"events":      {Events: slices.Repeat([]policy.Event{{From: c, Text: c, To: []string{c}, Mentions: []string{c, c}, Addressed: []string{c, c}}}, 20)},
		"silences":    {Replaced: strings.Repeat(c, 30), Events: slices.Repeat([]policy.Event{{Silent: []string{c, c, c}}}, 20)},
		"ids":         {Events: slices.Repeat([]policy.Event{{Mentions: slices.Repeat([]string{""}, 400)}}, 20)},
	} {
		if size, bound := encodedSize(in), maxSize(&in); bound < size {
			t.Errorf("%s: %d bytes, bound %d", name, size, bound)
		}
	}
}

// TestInputExactlyFits checks that an input of the largest size is left as it is.
func TestInputExactlyFits(t *testing.T) {
	pad := func(in policy.Input, size int) policy.Input {
		in.Objective = strings.Repeat("o", size-encodedSize(in))
		return in
	}
	whole := fitInput(pad(policy.Input{}, policy.MaxInput))
	if whole.Truncated || encodedSize(whole) != policy.MaxInput {
		t.Errorf("%d bytes, truncated %t", encodedSize(whole), whole.Truncated)
	}
	last := []policy.Event{{Seq: 2, Text: strings.Repeat("t", policy.MaxInput/2+1000)}}
	in := pad(policy.Input{Truncated: true, Events: last}, policy.MaxInput)
	in.Events = append([]policy.Event{{Seq: 1}}, last...)
	if in = fitInput(in); len(in.Events) != 1 || encodedSize(in) != policy.MaxInput {
		t.Errorf("%d events in %d bytes", len(in.Events), encodedSize(in))
	}
	in = pad(policy.Input{Truncated: true}, policy.MaxInput/2)
	in.Events = slices.Repeat(last, 2)
	if n := len(in.Objective); len(fitInput(in).Objective) != n {
		t.Errorf("an objective of %d bytes was cut", n)
	}
}

// TestFollowersBounded checks that the table of who followed whom stops growing.
func TestFollowersBounded(t *testing.T) {
	s := State{Followed: map[uint64]int32{}, Speakers: [2]int16{2, 1}}
	for i := range maxFollowed - 1 {
		s.Followed[1<<40+uint64(i)] = 1
	}
	s.follow(2)
	if len(s.Followed) != maxFollowed {
		t.Errorf("%d entries", len(s.Followed))
	}
}

// TestDamagedList checks that a packed list that ends too early is refused.
func TestDamagedList(t *testing.T) {
	var list chunkedList[messageIndex]
	if err := list.UnmarshalJSON([]byte(`"gA=="`)); err == nil { // one byte, which says that another follows
		t.Errorf("%+v", list)
	}
	var entries chunkedList[indexEntry]
	if err := entries.UnmarshalJSON([]byte(`"AgI="`)); err == nil {
		t.Errorf("%+v", entries)
	}
}

// TestOpeningShortened checks that long constraints are kept as far as they fit.
func TestOpeningShortened(t *testing.T) {
	a, b := strings.Repeat("a", maxObjective-5), strings.Repeat("b", 5)
	in := policy.Input{Objective: strings.Repeat("o", maxObjective+1), Constraints: []string{a, b, "c", strings.Repeat("d", maxObjective)}}
	shortenOpening(&in)
	if len(in.Objective) != maxObjective || !slices.Equal(in.Constraints, []string{a, b}) {
		t.Errorf("%d bytes of objective, %d constraints", len(in.Objective), len(in.Constraints))
	}
}

// TestTasksShortened checks that tasks are kept as far as they fit, the first ones
// first, and that the tasks of the caller stay whole.
func TestTasksShortened(t *testing.T) {
	long := policy.Task{Title: strings.Repeat("t", maxTasks/6/3)}
	tasks := []policy.Task{long, long}
	in := policy.Input{Agents: []policy.Agent{{Tasks: tasks}, {Tasks: tasks}, {Tasks: tasks[:1]}}}
	in.Objective = strings.Repeat("o", policy.MaxInput)
	in = fitInput(in)
	if a := in.Agents; !in.Truncated || len(a[0].Tasks) != 2 || len(a[1].Tasks) != 0 || len(a[2].Tasks) != 0 || len(tasks) != 2 {
		t.Errorf("%d, %d and %d tasks", len(a[0].Tasks), len(a[1].Tasks), len(a[2].Tasks))
	}
}

// TestPolicyTexts checks which text of an event a policy gets.
func TestPolicyTexts(t *testing.T) {
	said := func(seq int64) (string, error) { return "told " + strconv.FormatInt(seq, 10), nil }
	gone := func(int64) (string, error) { return "", nil }
	s := State{Recent: recent{Events: []policy.Event{{Seq: 1}, {Seq: 2}}, Texts: 1}}
	for _, c := range []struct {
		name  string
		ev    policy.Event
		needs policy.Needs
		text  TextFunc
		want  string
		cut   bool
	}{
		{"kept", policy.Event{Seq: 2, Kind: policy.KindMessage, Text: "here", Bytes: 4}, policy.Needs{}, said, "here", false},
		{"read again", policy.Event{Seq: 1, Kind: policy.KindMessage, Bytes: 6}, policy.Needs{}, said, "told 1", false},
		{"of a person", policy.Event{Seq: 1, Kind: policy.KindHuman, Bytes: 6}, policy.Needs{}, said, "told 1", false},
		{"a note", policy.Event{Seq: 1, Kind: policy.KindSystem, Bytes: 6}, policy.Needs{}, said, "told 1", false},
		{"redacted", policy.Event{Seq: 1, Kind: policy.KindMessage, Bytes: 6}, policy.Needs{}, gone, "", false},
		{"without a reader", policy.Event{Seq: 1, Kind: policy.KindMessage, Bytes: 6}, policy.Needs{}, nil, "", false},
		{"empty", policy.Event{Seq: 1, Kind: policy.KindMessage}, policy.Needs{}, said, "", false},
		{"withheld", policy.Event{Seq: 2, Kind: policy.KindMessage, Bytes: 6}, policy.Needs{}, said, "", false},
		{"exactly the limit", policy.Event{Seq: 2, Text: "four"}, policy.Needs{MaxTextBytes: 4}, said, "four", false},
		{"over the limit", policy.Event{Seq: 2, Text: "fives"}, policy.Needs{MaxTextBytes: 4}, said, "five", true},
		{"the default limit", policy.Event{Seq: 2, Text: strings.Repeat("x", policy.DefText+1)}, policy.Needs{}, said, strings.Repeat("x", policy.DefText), true},
	} {
		ev, err := s.textOf(c.ev, c.needs, c.text)
		if err != nil || ev.Text != c.want || ev.Truncated != c.cut {
			t.Errorf("%s: %q, truncated %t, %v", c.name, ev.Text, ev.Truncated, err)
		}
	}
	no := false
	if ev, _ := s.textOf(policy.Event{Seq: 2, Text: "x"}, policy.Needs{NeedsText: &no}, said); ev.Text != "" {
		t.Errorf("a policy without texts gets %q", ev.Text)
	}
}
