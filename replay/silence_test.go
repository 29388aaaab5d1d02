package replay_test

import (
	"os"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/transcripts"
)

// eager grants the turn to ann when she is eligible, else it declines. It states odds.
func eager(in *policy.Input) policy.Decision {
	odds := 0.4
	if e := in.LastSaid(); e != nil && e.Text == "ann?" {
		odds = 0.5
	}
	d := policy.Decline("ann cannot speak")
	if a := in.Agent("ann"); a != nil && a.Eligible {
		d = policy.Speak("ann", "ann can speak")
	}
	d.Speak = &odds
	return d
}

// TestSpeakOrSilent counts by hand: choices of a speaker and recorded decisions of ann,
// by choice and by stated odds.
func TestSpeakOrSilent(t *testing.T) {
	t.Parallel()
	c := &history.Conversation{ID: "c", Participants: []history.Participant{
		{ID: "ann", Kind: history.KindAgent}, {ID: "bo", Kind: history.KindHuman}, {ID: "cy", Kind: history.KindHuman},
	}}
	for _, s := range [][2]string{{"bo", "ann?"}, {"ann", "yes"}, {"cy", "and bo?"}, {"bo", "no"}, {"cy", "ann?"}, {"bo", "hm"}} {
		c.Turns = append(c.Turns, history.Turn{Speaker: s[0], Text: s[1]})
	}
	c.Decisions = []history.Decision{
		{Before: 1, Agent: "ann", Speak: true}, // after ann?: odds say speak
		{Before: 2, Agent: "ann"},              // after her own turn: a false speak by choice
		{Before: 3, Agent: "ann"},              // the same
		{Before: 5, Agent: "ann"},              // after ann?: odds say speak too
	}
	p := drive.Policy{Name: "eager", Proposer: native{decide: eager}, Ref: room.PolicyRef{Use: "eager", Name: "eager"}}
	r, err := replay.Run(t.Context(), replay.Config{Policies: []drive.Policy{p}}, conversations(c))
	if err != nil {
		t.Fatal(err)
	}
	if r.Decisions != 5 {
		t.Errorf("%d choices of a speaker, want 5", r.Decisions)
	}
	for name, want := range map[string]float64{
		// choices: ann (truth), cy after ann (ann is no candidate), bo, cy, bo
		"balanced_accuracy": (1 + 0.25) / 2, "false_speaks": 0.75, "false_silences": 0,
		"even_balanced_accuracy": (1 + 0.75) / 2, "even_false_speaks": 0.25, "even_false_silences": 0,
		"decided_balanced_accuracy": 0.5, "decided_false_speaks": 1, "decided_false_silences": 0,
		"decided_even_balanced_accuracy": (1 + 2.0/3) / 2, "decided_even_false_speaks": 1.0 / 3, "decided_even_false_silences": 0,
	} {
		got, ok := r.Policies[0].Figure(name)
		if d := float64(got) - want; !ok || d > 1e-9 || d < -1e-9 || got.IsNone() {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if n := r.Policies[0].N; n["decided_balanced_accuracy"] != 4 || n["false_speaks"] != 5 {
		t.Errorf("n is %v", n)
	}
}

// TestRecordedDecisionsOfSet replays the decisions of the games that are shared with
// the project, where they are there.
func TestRecordedDecisionsOfSet(t *testing.T) {
	t.Parallel()
	const folder = "../../shared/transcripts/"
	f, err := os.Open(folder + "llmafia-decisions.jsonl.gz")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	lists, err := transcripts.NewReader(f, "decisions")
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]*transcripts.DecisionList{}
	for l, err := range lists.Decisions() {
		if err != nil {
			t.Fatal(err)
		}
		byID[l.ID] = l
	}
	r, err := replay.Run(t.Context(), replay.Config{Policies: baselines("ABA", "mention-only")}, func(yield func(history.Transcript, error) bool) {
		games, err := os.Open(folder + "llmafia.jsonl.gz")
		if err != nil {
			yield(history.Transcript{}, err)
			return
		}
		defer games.Close()
		for c, err := range transcripts.ReadConversations(games, "games") {
			if err == nil && byID[c.ID] != nil {
				err = c.Join(byID[c.ID])
			}
			if err != nil {
				yield(history.Transcript{}, err)
				return
			}
			if !yield(transcriptOf(c), nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &r.Policies[0]
	if r.Decisions != 368 || p.N["decided_balanced_accuracy"] != 505 || p.N["balanced_accuracy"] != 368 {
		t.Errorf("%d choices, %v", r.Decisions, p.N)
	}
	if i := p.Intervals["decided_false_speaks"]; i[0].IsNone() || i[0] > p.DecidedFalseSpeaks || i[1] < p.DecidedFalseSpeaks {
		t.Errorf("false speaks %v have the interval %v", p.DecidedFalseSpeaks, i)
	}
}
