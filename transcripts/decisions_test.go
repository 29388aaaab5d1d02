package transcripts_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/transcripts"
)

const withDecisions = `{"id":"game/1","participants":[{"id":"ann","kind":"human"},{"id":"bo","kind":"human"},{"id":"Rowan","kind":"agent"}],` +
	`"turns":[{"i":0,"speaker":"ann","text":"hello","t_s":1},{"i":1,"speaker":"bo","text":"hi","t_s":5},{"i":2,"speaker":"Rowan","text":"me too","t_s":5}],` +
	`"decisions":[{"before":1,"agent":"Rowan","decision":"decline","t_s":2},{"before":1,"decision":"decline"},{"before":2,"agent":"Rowan","decision":"speak","t_s":4}]}`

func readOne(t *testing.T, line string) *transcripts.Conversation {
	t.Helper()
	for c, err := range transcripts.ReadConversations(strings.NewReader(line), "test") {
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	t.Fatal("no conversation")
	return nil
}

// TestDecisionEvents: a silence becomes a declined round without a record, at its time
// between the turns. A decision to speak is no event.
func TestDecisionEvents(t *testing.T) {
	t.Parallel()
	c := readOne(t, withDecisions)
	var got []string
	for _, e := range c.Events() {
		switch b := e.Body.(type) {
		case room.MessagePosted:
			got = append(got, b.Message.From+" "+e.Clock.String())
		case room.RoundDeclined:
			got = append(got, strings.Join(b.Silent, ",")+" silent "+e.Clock.String()+" "+b.Reason)
			if room.RecordOf(e) != nil {
				t.Error("a silence of the source has the record of a policy")
			}
		}
	}
	want := []string{"ann 1s", "Rowan silent 2s Rowan could speak and did not", " silent 5s nobody spoke", "bo 5s", "Rowan 5s"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if clocks := c.DecisionClocks(); !slices.Equal(clocks, []time.Duration{2 * time.Second, 5 * time.Second, 5 * time.Second}) {
		t.Errorf("clocks of the decisions %v", clocks)
	}
}

func TestDecisionsChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, change, want string }{
		{`"agent":"Rowan","decision":"speak"`, `"agent":"eve","decision":"speak"`, `decisions[2]: agent "eve" is not a participant`},
		{`"agent":"Rowan","decision":"speak"`, `"decision":"speak"`, `decisions[2]: "agent" is missing`},
		{`"decision":"speak"`, `"decision":"wait"`, `decisions[2]: decision "wait" is not speak or decline`},
		{`{"before":2`, `{"before":0`, "decisions[2]: before is 0"},
		{`{"before":2`, `{"before":4`, "decisions[2]: before is 4"},
		{`"t_s":4`, `"t_s":1e99`, "decisions[2]: t_s 1e+99 is out of range"},
	} {
		line := strings.Replace(withDecisions, c.old, c.change, 1)
		for _, err := range transcripts.ReadConversations(strings.NewReader(line), "test") {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.want, err)
			}
		}
		r, err := transcripts.NewReader(strings.NewReader(line), "test")
		if err != nil {
			t.Fatal(err)
		}
		for x, err := range r.Lenient() {
			if err != nil || x.Conversation == nil || len(x.Decisions) != 2 || x.Skipped != 1 {
				t.Errorf("%s: a lenient reader got %+v %v", c.want, x, err)
			}
		}
	}
}

// TestDecisionsOfSkippedTurns: where turns are left out, decisions keep their places
// between the others.
func TestDecisionsOfSkippedTurns(t *testing.T) {
	t.Parallel()
	line := strings.Replace(withDecisions, `"speaker":"ann"`, `"speaker":"eve"`, 1)
	r, err := transcripts.NewReader(strings.NewReader(line), "test")
	if err != nil {
		t.Fatal(err)
	}
	for x, err := range r.Lenient() {
		if err != nil || len(x.Turns) != 2 || len(x.Decisions) != 3 || x.Decisions[0].Before != 0 || x.Decisions[2].Before != 1 {
			t.Errorf("%+v %v", x, err)
		}
	}
}

// TestJoinDecisions: decisions of another file are put between the turns by time,
// before the turns of the same second.
func TestJoinDecisions(t *testing.T) {
	t.Parallel()
	r, err := transcripts.NewReader(strings.NewReader(`{"id":"game/1","agent":"Rowan","source":"x","license":"y","decisions":[`+
		`{"t_s":0,"decision":"decline"},{"t_s":5,"decision":"speak"},{"t_s":9,"decision":"decline"},{"t_s":9,"decision":"decline","agent":"bo"}]}`), "test")
	if err != nil {
		t.Fatal(err)
	}
	if !r.OnlyDecisions() {
		t.Error("the file is not known as one of decisions")
	}
	c := readOne(t, withDecisions)
	c.Decisions = nil
	for l, err := range r.Decisions() {
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Join(l); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, d := range c.Decisions {
		got = append(got, strings.Repeat(".", d.Before)+d.Agent+" "+d.Decision)
	}
	if want := []string{"Rowan decline", ".Rowan speak", "...Rowan decline", "...bo decline"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	before := len(c.Decisions)
	if err := c.Join(&transcripts.DecisionList{ID: "game/1", Agent: "eve", Decisions: []transcripts.TimedDecision{{Decision: "speak"}}}); err == nil || len(c.Decisions) != before {
		t.Errorf("joined the decision of a stranger: %v", err)
	}
	c.Turns[1].Seconds = nil
	if err := c.Join(&transcripts.DecisionList{ID: "game/1"}); err == nil {
		t.Error("joined decisions between turns without times")
	}
}

func TestDecisionListsChecked(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"agent":"a","decisions":[]}`:                    `"id" is missing`,
		`{"id":"a","decisions":[{"t_s":"x"}]}`:            "t_s",
		`{"id":"a","decisions":[],"more":1}`:              "more",
		`{"id":"a","decisions":[]}` + "\n" + `{"id":"b"}`: `"decisions" is missing`,
	} {
		r, err := transcripts.NewReader(strings.NewReader(line), "test")
		if err != nil {
			t.Fatal(err)
		}
		var last error
		for _, err := range r.Decisions() {
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), want) {
			t.Errorf("%s: %v", line, last)
		}
	}
}
