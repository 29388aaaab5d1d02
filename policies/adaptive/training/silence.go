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
}

// decide sets the recorded decisions of c, where people outnumber the agents, as the
// policy sees them in replay. Where c has silences of a participant and no decisions to
// speak, its turns are these.
func (t *Talk) decide(c *transcripts.Conversation, matcher *names.Matcher) {
	p, in := adaptive.New(), policy.Input{ABI: policy.ABI, Init: true, Agents: slices.Clone(t.agents)}
	next, last := 0, ""
	for _, d := range withImplied(c) {
		for ; next < d.Before; next++ {
			u := &c.Turns[next]
			e := policy.Event{From: u.Speaker, Kind: policy.KindMessage}
			e.Mentions, e.Addressed = matcher.Scan(u.Text, u.Speaker)
			in.Events = append(in.Events, e)
			for i := range in.Agents {
				if a := &in.Agents[i]; a.ID == u.Speaker && a.ID != last {
					a.Turns++
				}
			}
			last = u.Speaker
		}
		x, ok, state := p.Silence(&in, d.Agent)
		if ok {
			t.decided = append(t.decided, decided{x, is(d.Decision == transcripts.Speaks)})
		}
		in.Init, in.State, in.Events = false, state, in.Events[:0]
	}
}

func withImplied(c *transcripts.Conversation) (all []transcripts.Decision) {
	kinds := map[string]map[string]bool{}
	for _, d := range c.Decisions {
		if d.Agent == "" {
			continue
		}
		if all = append(all, d); kinds[d.Agent] == nil {
			kinds[d.Agent] = map[string]bool{}
		}
		kinds[d.Agent][d.Decision] = true
	}
	for i := range c.Turns {
		by := c.Turns[i].Speaker
		if kinds[by] != nil && !kinds[by][transcripts.Speaks] && (i == 0 || c.Turns[i-1].Speaker != by) {
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
	s, all := &Silence{}, []decided(nil)
	parts := make([][]decided, mostParts)
	for _, t := range talks {
		if len(t.decided) > 0 {
			parts[s.Talks%mostParts] = append(parts[s.Talks%mostParts], t.decided...)
			all = append(all, t.decided...)
			s.Talks++
		}
	}
	if s.Decisions = len(all); s.Decisions == 0 {
		return nil, nil
	}
	var n, wrong [2]float64 // recorded silences, and decisions to speak
	for i := range parts[:min(s.Talks, mostParts)] {
		head := fitHead(slices.Concat(slices.Concat(parts[:i]...), slices.Concat(parts[i+1:]...)))
		if head == nil {
			return nil, s
		}
		for _, d := range parts[i] {
			n[int(d.speak)]++
			wrong[int(d.speak)] += math.Abs(d.speak - is(head.Odds(d.x) >= .5))
		}
	}
	s.FalseSpeaks, s.FalseSilences = wrong[0]/n[0], wrong[1]/n[1]
	s.Balanced = 1 - (s.FalseSpeaks+s.FalseSilences)/2
	if s.Learned = s.Balanced > .5; !s.Learned {
		return nil, s
	}
	return fitHead(all), s
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
