package training

import (
	"math"
	"slices"

	"github.com/folkmoot/moot/internal/logistic"
	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room/names"
	"github.com/folkmoot/moot/transcripts"
)

// A decided is a recorded decision of an agent to speak or to be silent.
type decided struct {
	x     [adaptive.HeadFeatures]float64
	speak float64 // 1, or 0 for silence
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
func callsOf(all []decided, odds func(*decided) float64) Calls {
	c := make(Calls, 4)
	for i := range all {
		kind := 2 * int(all[i].speak)
		c[kind]++
		c[kind+1] += math.Abs(all[i].speak - is(odds(&all[i]) >= .5))
	}
	return c
}

// decide sets the recorded decisions of c, where people outnumber the agents, as the
// policy sees them in replay. Where c has silences of a participant and no decisions to
// speak, its turns are these.
func (t *Talk) decide(c *transcripts.Conversation, matcher *names.Matcher) {
	p, in := adaptive.New(), policy.Input{ABI: policy.ABI, Init: true, Agents: slices.Clone(t.agents)}
	next := 0
	for _, d := range withImplied(c) {
		for ; next < d.Before; next++ {
			u := &c.Turns[next]
			e := policy.Event{From: u.Speaker, Kind: policy.KindMessage}
			e.Mentions, e.Addressed = matcher.Scan(u.Text, u.Speaker)
			in.Events = append(in.Events, e)
			for i := range in.Agents {
				if a := &in.Agents[i]; a.ID == u.Speaker && (next == 0 || a.ID != c.Turns[next-1].Speaker) {
					a.Turns++
				}
			}
		}
		x, ok, state := p.Silence(&in, d.Agent)
		if ok {
			t.decided = append(t.decided, decided{x, is(d.Decision == transcripts.Speaks)})
		}
		in.Init, in.State, in.Events = false, state, in.Events[:0]
	}
}

func withImplied(c *transcripts.Conversation) (all []transcripts.Decision) {
	speaks := map[string]bool{} // of those with decisions: whether one is to speak
	for _, d := range c.Decisions {
		if d.Agent != "" {
			all = append(all, d)
			speaks[d.Agent] = speaks[d.Agent] || d.Decision == transcripts.Speaks
		}
	}
	for i := range c.Turns {
		by := c.Turns[i].Speaker
		if does, asked := speaks[by]; asked && !does && (i == 0 || c.Turns[i-1].Speaker != by) {
			all = append(all, transcripts.Decision{Before: i, Agent: by, Decision: transcripts.Speaks})
		}
	}
	slices.SortStableFunc(all, func(a, b transcripts.Decision) int { return a.Before - b.Before })
	return all
}

// mostParts is into how many parts talks are dealt at most to measure a head. With
// fewer talks each is a part.
const mostParts = 20

// LearnSilence trains a head on the recorded decisions of the talks, and measures it
// part by part. The head is nil if there are not decisions of both kinds besides those
// of any one part, or if it predicts no better than chance. The Silence is nil without
// decisions.
func LearnSilence(talks []*Talk) (*adaptive.Head, *Silence) {
	s, asked := &Silence{}, [][]decided(nil)
	for _, t := range talks {
		if len(t.decided) > 0 {
			asked = append(asked, t.decided)
			s.Decisions += len(t.decided)
		}
	}
	if s.Talks = len(asked); s.Talks == 0 {
		return nil, nil
	}
	sum, heads := make(Calls, 4), make([]*adaptive.Head, min(s.Talks, mostParts))
	for i := range heads {
		var others []decided
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
		s.Untaught = append(s.Untaught, callsOf(all, func(d *decided) float64 { return d.x[0] }))
		s.Taught = append(s.Taught, callsOf(all, func(d *decided) float64 { return heads[i%mostParts].Odds(d.x) }))
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

func is(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// headPull is the L2 regularisation of a head, without its constant.
const headPull = 1

// fitHead fits a logistic model. Both kinds of decisions weigh the same in total. It
// returns nil if there is but one.
func fitHead(all []decided) *adaptive.Head {
	var n [2]float64
	for _, d := range all {
		n[int(d.speak)]++
	}
	if n[0] == 0 || n[1] == 0 {
		return nil
	}
	var examples []logistic.Example
	for i := range all {
		d := &all[i]
		examples = append(examples, logistic.Example{X: d.x[:], Positive: d.speak == 1, Weight: (n[0] + n[1]) / 2 / n[int(d.speak)]})
	}
	w := &adaptive.Head{}
	for i, f := range logistic.Fit(examples, adaptive.HeadFeatures, headPull) {
		w[i] = math.Round(f*1e4) / 1e4
	}
	return w
}
