package training

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/policies/policytest"
	"github.com/folkmoot/moot/transcripts"
)

// game is a talk of four people and an agent that speaks whenever it was named since
// its own turn, and is silent otherwise.
func game(t *testing.T, id string, decisions bool) *Talk {
	t.Helper()
	c := &transcripts.Conversation{ID: id, Participants: []transcripts.Participant{{ID: "bot", Kind: "agent"}}}
	for _, p := range []string{"ann", "bo", "cy", "di"} {
		c.Participants = append(c.Participants, transcripts.Participant{ID: p, Kind: "human"})
	}
	say := func(by, text string) {
		c.Turns = append(c.Turns, transcripts.Turn{I: len(c.Turns), Speaker: by, Text: text})
	}
	for k := range 30 {
		text, does := fmt.Sprint("well ", k), transcripts.Declines
		if k%5 == 2 {
			text, does = "bot, what do you think?", transcripts.Speaks
		}
		say(c.Participants[1+k%4].ID, text)
		if decisions {
			c.Decisions = append(c.Decisions, transcripts.Decision{Before: len(c.Turns), Agent: "bot", Decision: does})
		}
		if does == transcripts.Speaks {
			say("bot", "not much")
		}
	}
	talk := NewTalk(c)
	if talk == nil {
		t.Fatal("no talk")
	}
	return talk
}

// TestLearnSilence: what decides is learned, always the same, and the module in the
// sandbox decides by it like the package in this process.
func TestLearnSilence(t *testing.T) {
	t.Parallel()
	talks := []*Talk{game(t, "1", true), game(t, "2", true), game(t, "3", false)}
	head, s := LearnSilence(talks)
	if len(s.Taught) != 2 || len(s.Untaught) != 2 || Balanced(s.Untaught[0]) > .9 {
		t.Errorf("taught %v, untaught %v", s.Taught, s.Untaught)
	}
	s.Taught, s.Untaught = nil, nil
	if want := (&Silence{Talks: 2, Decisions: 60, Learned: true, Balanced: 1}); head == nil || !reflect.DeepEqual(s, want) {
		t.Fatalf("%v, %+v", head, s)
	}
	if again, _ := LearnSilence(talks); *again != *head {
		t.Errorf("learning twice gives %v and %v", head, again)
	}
	settings, err := json.Marshal(map[string]any{"silence": .5, "silence_head": head})
	if err != nil {
		t.Fatal(err)
	}
	p := adaptive.New()
	guest, native := sandboxed(t, "adaptive", settings), policy.NewModule(policy.Named{Name: "adaptive", Policy: p})
	if err := native.Configure(policytest.Configure("adaptive", settings)); err != nil {
		t.Fatal(err)
	}
	spoke := 0
	for i, in := range inputs(adaptive.New(), talks[2], 40) {
		r, err := guest.Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if want := native.Decide(in); !bytes.Equal(r.Output, want) {
			t.Fatalf("decision %d: in the sandbox\n%s\nin this process\n%s", i+1, r.Output, want)
		}
		spoke += bytes.Count(r.Output, []byte(`"agent":"bot","reason"`)) + bytes.Count(r.Output, []byte(`"action":"speak","agent":"bot"`))
	}
	if spoke == 0 {
		t.Error("the agent never speaks")
	}
}

// TestSilenceNeedsBothKinds: one talk, or one kind of decision, teaches nothing.
func TestSilenceNeedsBothKinds(t *testing.T) {
	t.Parallel()
	if head, s := LearnSilence([]*Talk{game(t, "1", false)}); head != nil || s != nil {
		t.Errorf("without decisions %v, %+v", head, s)
	}
	silent := game(t, "1", true)
	for i := range silent.decided {
		silent.decided[i].speak = 0
	}
	for _, talks := range [][]*Talk{{game(t, "1", true)}, {silent, silent}, {silent, game(t, "2", true)}} {
		if head, s := LearnSilence(talks); head != nil || s == nil || s.Learned || s.Balanced != 0 {
			t.Errorf("%d talks: %v, %+v", len(talks), head, s)
		}
	}
}

// TestImpliedDecisions: where only silences of an agent are recorded, its turns are
// its decisions to speak.
func TestImpliedDecisions(t *testing.T) {
	t.Parallel()
	c := &transcripts.Conversation{
		Turns:     []transcripts.Turn{{Speaker: "ann"}, {Speaker: "bot"}, {Speaker: "bot"}, {Speaker: "ann"}, {Speaker: "bot"}},
		Decisions: []transcripts.Decision{{Before: 1, Decision: transcripts.Declines}, {Before: 4, Agent: "bot", Decision: transcripts.Declines}},
	}
	got := ""
	for _, d := range withImplied(c) {
		got += fmt.Sprint(d.Before, d.Agent, d.Decision, " ")
	}
	if want := "1botspeak 4botdecline 4botspeak "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
