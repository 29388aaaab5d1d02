package waste

import (
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/transcripts"
)

// stopAt flags the turns whose text it is.
type stopAt struct {
	text   string
	joined *[]string
}

func (s stopAt) Join(p transcripts.Participant) { *s.joined = append(*s.joined, p.ID) }
func (s stopAt) Flags(_, text string) bool      { return text == s.text }

func labelled(extra string, lines ...string) *transcripts.Conversation {
	c := conversation(lines...)
	c.Extra = policy.JSON(extra)
	return c
}

// TestGuard counts what a policy would have ended: the turns after its first flag, the
// runs that succeeded, and the runs that end before their error.
func TestGuard(t *testing.T) {
	var joined []string
	a := Account{Guard: "guard", Watch: func() Watcher { return stopAt{"stop", &joined} }}
	for _, c := range []*transcripts.Conversation{
		labelled(`{"success":true}`, "a: 1", "b: stop", "a: 12345678", "b: stop", "a: 2"),          // a false alarm, 3 turns
		labelled(`{"success":true}`, "a: 1", "b: 2"),                                               // none
		labelled(`{"success":false,"mistake_step":2}`, "a: 1", "b: stop", "a: oh", "b: 4"),         // before the error, 2 turns
		labelled(`{"success":false,"mistake_step":1}`, "a: 1", "b: stop", "a: oh", "b: 4", "a: 5"), // at the error, 3 turns
		labelled(`{}`, "a: 1", "b: 2", "a: stop"),                                                  // at the last turn: nothing to end
	} {
		if err := a.AddConversation(Labels{}.Run(c, "talks.jsonl"), c); err != nil {
			t.Fatal(err)
		}
	}
	g := a.Report().Guard
	if g == nil || g.Policy != "guard" || g.Runs != 5 || g.Stopped != 3 || g.Early != 1 || g.Good != 2 || g.GoodStopped != 1 || g.Turns != 8 || g.ShareOfTurns != 8./19 {
		t.Errorf("got %+v", g)
	}
	if g.Tokens != 2+7 {
		t.Errorf("%d tokens saved, want 9", g.Tokens)
	}
	if len(joined) != 5*4 {
		t.Errorf("%d participants of 5 runs with 4 each: %v", len(joined), joined)
	}
	if r := reportOf(conversation("a: stop", "b: 2")); r.Guard != nil {
		t.Errorf("without a watcher the report has %+v", r.Guard)
	}
}
