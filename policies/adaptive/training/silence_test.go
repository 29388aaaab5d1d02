package training

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/policies/policytest"
	"github.com/folkmoot/moot/replay/history"
)

// game is a talk of four people and an agent that speaks after long silences, and only if
// something was said since its previous decision. The talk has these decisions, or none.
func game(id, decisions string) *history.Conversation {
	c := &history.Conversation{ID: id, Participants: []history.Participant{{ID: "bot", Kind: "agent"}}}
	for _, p := range []string{"ann", "bo", "cy", "di"} {
		c.Participants = append(c.Participants, history.Participant{ID: p, Kind: "human"})
	}
	say := func(by, text string) {
		c.Turns = append(c.Turns, history.Turn{Speaker: by, Text: text})
	}
	for k := range 30 {
		say(c.Participants[1+k%4].ID, fmt.Sprint("well ", k))
		speaks, asked := k%10 == 2 && decisions != "silences", 0
		switch {
		case decisions == "":
		case k%10 == 2:
			asked = 1
		case k%10 == 7:
			asked = 4 // nothing is new after the first one
		}
		for range asked {
			c.Decisions = append(c.Decisions, history.Decision{Before: len(c.Turns), Agent: "bot", Speak: speaks})
		}
		if speaks {
			say("bot", "not much")
		}
	}
	return c
}

// TestLearnSilence: what decides is learned, always the same, and the module in the
// sandbox decides by it like the package in this process.
func TestLearnSilence(t *testing.T) {
	t.Parallel()
	talks := []*history.Conversation{game("1", "both"), game("2", "both"), game("3", "")}
	head, s := learnSilence(t, talks...)
	if len(s.Taught) != 2 || len(s.Untaught) != 2 || Balanced(s.Taught[0]) < Balanced(s.Untaught[0])+.2 {
		t.Errorf("taught %v, untaught %v", s.Taught, s.Untaught)
	}
	if head == nil || s.Talks != 2 || s.Decisions != 30 || !s.Learned || s.Balanced < .8 {
		t.Fatalf("%v, %+v", head, s)
	}
	if again, _ := learnSilence(t, talks...); *again != *head {
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
	for i, in := range inputs(t, adaptive.New(), talks[2], 40) {
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
	if head, s := learnSilence(t, game("1", "")); head != nil || s != nil {
		t.Errorf("without decisions %v, %+v", head, s)
	}
	silent := game("1", "silences")
	for _, talks := range [][]*history.Conversation{{game("1", "both")}, {silent, silent}, {silent, game("2", "both")}} {
		if head, s := learnSilence(t, talks...); head != nil || s == nil || s.Learned || s.Balanced != 0 {
			t.Errorf("%d talks: %v, %+v", len(talks), head, s)
		}
	}
}

func learnSilence(t *testing.T, talks ...*history.Conversation) (*adaptive.Head, *Silence) {
	t.Helper()
	head, s, err := LearnSilence(talks)
	if err != nil {
		t.Fatal(err)
	}
	return head, s
}

// TestRecordedDecisions: taught by the other shared games, 78 % of the recorded decisions
// of a game to speak or to be silent are right, balanced.
func TestRecordedDecisions(t *testing.T) {
	t.Parallel()
	_, s := learnSilence(t, withDecisions(t, "llmafia")...)
	if s == nil || s.Talks != 5 || s.Decisions != 505 || s.Balanced < .78 {
		t.Errorf("%+v", s)
	}
}
