package transcripts

import "testing"

func TestLabels(t *testing.T) {
	for extra, want := range map[string]struct {
		turn    int
		labeled bool
		outcome float64
		known   bool
	}{
		``:                                       {},
		`[]`:                                     {},
		`{"mistake_step":1}`:                     {turn: 1, labeled: true},
		`{"mistake_step":" 1 ","success":"Yes"}`: {turn: 1, labeled: true},
		`{"mistake_step":2}`:                     {}, // no such turn
		`{"mistake_step":-1}`:                    {},
		`{"mistake_step":0.5}`:                   {},
		`{"mistake_step":1e300}`:                 {},
		`{"mistake_step":null,"success":true}`:   {outcome: 1, known: true},
		`{"is_correct":"False"}`:                 {known: true},
		`{"is_correct":true,"outcome":0.25}`:     {outcome: .25, known: true},
		`{"outcome":"NaN","is_correct":1}`:       {outcome: 1, known: true},
	} {
		c := &Conversation{Extra: []byte(extra), Turns: make([]Turn, 2)}
		turn, labeled := c.Mistake(MistakeField)
		if labeled != want.labeled || labeled && turn != want.turn {
			t.Errorf("%s: mistake %d, %t", extra, turn, labeled)
		}
		if outcome, known := c.Outcome(""); known != want.known || known && outcome != want.outcome {
			t.Errorf("%s: outcome %g, %t", extra, outcome, known)
		}
	}
	c := &Conversation{Extra: []byte(`{"reward":"1.5"}`)}
	if outcome, known := c.Outcome("reward"); !known || outcome != 1.5 {
		t.Errorf("reward %g, %t", outcome, known)
	}
}
