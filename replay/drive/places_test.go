package drive

import (
	"fmt"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
)

// fivePoint is a decision point with five seats: b spoke last, c, e and d
// before, in this order, a never.
func fivePoint(t *testing.T) *history.Point {
	t.Helper()
	c := &history.Conversation{ID: "rank"}
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		c.Participants = append(c.Participants, history.Participant{ID: id, Kind: history.KindAgent})
	}
	c.Turns = []history.Turn{{Speaker: "a"}, {Speaker: "b"}}
	h, err := history.Open(history.Transcript{Conversation: c})
	if err != nil {
		t.Fatal(err)
	}
	p := &history.Point{History: h, LastSpoke: make([]int, 6)}
	for id, seq := range map[string]int{"c": 9, "d": 5, "e": 7} {
		seat, _ := h.SeatOf(id)
		p.LastSpoke[seat] = seq
	}
	for _, id := range []string{"a", "b", "d", "e", "f"} {
		seat, _ := h.SeatOf(id)
		p.Candidates = append(p.Candidates, seat)
	}
	return p
}

// evaluated is the evaluation of d when truth was recorded.
func evaluated(p *history.Point, d policy.Decision, truth string) Evaluation {
	seat, _ := p.History.SeatOf(truth)
	p.Truth = history.Choice(seat)
	e := Evaluation{Choice: choiceOf(p.History, &d), Likeliest: history.Declined, Decision: d}
	e.setConfidence(p)
	(&policyEvaluator{}).setPlaces(p, &e)
	return e
}

// TestPlaces: the choice is first, then the score and the later last message
// decide. Those that are still equal share their places.
func TestPlaces(t *testing.T) {
	p := fivePoint(t)
	plain := policy.Speak("b", "")
	scored := policy.Speak("b", "")
	scored.Scores = []policy.Score{{Agent: "a", Score: 1}, {Agent: "d", Score: 1}, {Agent: "b", Score: -3}}
	equal := policy.Speak("b", "")
	equal.Scores = []policy.Score{{Agent: "a", Score: 1}, {Agent: "b", Score: 1}, {Agent: "e", Score: 1}, {Agent: "f", Score: 1}}
	spoken := policy.Speak("d", "")
	spoken.Scores = []policy.Score{{Agent: "d", Score: 1}, {Agent: "e", Score: 1}}
	const half, third = 1.0 / 2, 1.0 / 3
	for _, c := range []struct {
		name  string
		d     policy.Decision
		truth string
		want  string // hit, rank, reciprocal rank
	}{
		{"the choice", plain, "b", "1.000 1 1.000"},
		{"spoke latest", plain, "e", "0.000 2 0.500"},
		{"never spoke, two places", plain, "a", fmt.Sprintf("0.000 4 %.3f", (1.0/4+1.0/5)/2)},
		{"equal scores, spoke", scored, "d", "0.000 2 0.500"},
		{"equal scores, never spoke", scored, "a", "0.000 3 0.333"},
		{"without a score, spoke", scored, "e", "0.000 4 0.250"},
		{"the choice of three equals", equal, "b", fmt.Sprintf("0.333 1 %.3f", (1+half+third)/3)},
		{"another of three equals", equal, "f", fmt.Sprintf("0.333 1 %.3f", (1+half+third)/3)},
		{"the score of the choice, but spoke", equal, "e", "0.000 4 0.250"},
		{"a choice that spoke is no tie", spoken, "e", "0.000 2 0.500"},
		{"no candidate", plain, "c", "0.000 0 0.000"},
		{"a decline", policy.Decline("no"), "a", "0.000 0 0.000"},
	} {
		e := evaluated(p, c.d, c.truth)
		if got := fmt.Sprintf("%.3f %d %.3f", e.Hit, e.Rank, e.ReciprocalRank); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestTiedConfidence: a declined decision counts for each of the seats that it
// rates highest.
func TestTiedConfidence(t *testing.T) {
	p := fivePoint(t)
	d := policy.Decline("unsure")
	d.Scores = []policy.Score{{Agent: "a", Score: .3}, {Agent: "b", Score: .3}, {Agent: "e", Score: .2}}
	e := evaluated(p, d, "b")
	if share := e.Share(p.Truth); e.Hit != 0 || share != 0.5 {
		t.Errorf("hit %v, share of the truth %v", e.Hit, share)
	}
}
