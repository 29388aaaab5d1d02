package training

import (
	"math"
	"slices"

	"github.com/folkmoot/moot/internal/logistic"
	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
)

// A decision is a recorded one of an agent to speak or to be silent.
type decision struct {
	x     [adaptive.HeadFeatures]float64
	speak bool
}

// A Silence says how well recorded decisions to speak or to be silent are predicted,
// those of each talk after learning from other talks. Shares are from 0 to 1.
type Silence struct {
	Talks         int     `json:"talks"`
	Decisions     int     `json:"decisions"`
	Learned       bool    `json:"learned"` // the rest is 0 if not
	Balanced      float64 `json:"balanced_accuracy"`
	FalseSpeaks   float64 `json:"false_speaks"`
	FalseSilences float64 `json:"false_silences"`

	Taught   []Calls `json:"-"` // of each talk
	Untaught []Calls `json:"-"` // by the rule, of the same talks
}

// Calls count the silences of a talk, those that were predicted wrongly, and the same of
// the decisions to speak.
type Calls = []float64

// Balanced is the balanced accuracy of calls.
func Balanced(c Calls) float64 { return 1 - (c[1]/c[0]+c[3]/c[2])/2 }

// callsOf counts the decisions by odds, of which a half or more is to speak.
func callsOf(all []decision, odds func([adaptive.HeadFeatures]float64) float64) Calls {
	c := make(Calls, 4)
	for _, d := range all {
		of := c[:2]
		if d.speak {
			of = c[2:]
		}
		of[0]++
		if d.speak != (odds(d.x) >= .5) {
			of[1]++
		}
	}
	return c
}

// mostParts is into how many parts talks are dealt at most to measure a head. With
// fewer talks each is a part.
const mostParts = 20

// LearnSilence trains a head on the recorded decisions of the talks, and measures it
// part by part. The head is nil if there are not decisions of both kinds besides those
// of any one part, or if it predicts no better than chance. The Silence is nil without
// decisions.
func LearnSilence(talks []*history.Conversation) (*adaptive.Head, *Silence, error) {
	var asked [][]decision
	for _, t := range talks {
		var all []decision
		p := adaptive.New()
		err := walk(t, decided, func(in *policy.Input, at *history.Point) policy.JSON {
			s, state := p.Study(in, at.History.NameOf(history.Choice(at.Asked)))
			if s.Asked {
				all = append(all, decision{s.Silence, at.Truth.Speaks()})
			}
			return state
		})
		if err != nil {
			return nil, nil, err
		}
		if len(all) > 0 {
			asked = append(asked, all)
		}
	}
	if len(asked) == 0 {
		return nil, nil, nil
	}
	head, s := learnHead(asked)
	return head, s, nil
}

// learnHead trains a head on the decisions of some talks, and measures it.
func learnHead(asked [][]decision) (*adaptive.Head, *Silence) {
	s := &Silence{Talks: len(asked), Decisions: len(slices.Concat(asked...))}
	sum, heads := make(Calls, 4), make([]*adaptive.Head, min(s.Talks, mostParts))
	for i := range heads {
		var others []decision
		for k, all := range asked {
			if k%mostParts != i {
				others = append(others, all...)
			}
		}
		if heads[i] = fitHead(others); heads[i] == nil {
			return nil, s
		}
	}
	for i, all := range asked {
		s.Untaught = append(s.Untaught, callsOf(all, (*adaptive.Head)(nil).Odds))
		s.Taught = append(s.Taught, callsOf(all, heads[i%mostParts].Odds))
		for k, n := range s.Taught[i] {
			sum[k] += n
		}
	}
	s.FalseSpeaks, s.FalseSilences, s.Balanced = sum[1]/sum[0], sum[3]/sum[2], Balanced(sum)
	if s.Learned = s.Balanced > .5; !s.Learned {
		return nil, s
	}
	return fitHead(slices.Concat(asked...)), s
}

// headPull is the L2 regularisation of a head, without its constant.
const headPull = 1

// fitHead fits a logistic model. Both kinds of decisions weigh the same in total. It
// returns nil if there is but one.
func fitHead(all []decision) *adaptive.Head {
	n := map[bool]float64{}
	for _, d := range all {
		n[d.speak]++
	}
	if len(n) < 2 {
		return nil
	}
	var examples []logistic.Example
	for _, d := range all {
		examples = append(examples, logistic.Example{X: d.x[:], Positive: d.speak, Weight: float64(len(all)) / 2 / n[d.speak]})
	}
	w := &adaptive.Head{}
	for i, f := range logistic.Fit(examples, adaptive.HeadFeatures, headPull) {
		w[i] = math.Round(f*1e4) / 1e4
	}
	return w
}
