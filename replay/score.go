package replay

import (
	"math"
	"slices"
)

// What is counted of each transcript. Sums add up, so a figure of many
// transcripts, or of a resample of them, is a figure of a sum. Those that are
// resampled come first.
const (
	sDecisions = iota
	sHits
	sReciprocal // sum of 1/rank
	sDeclines   // finishes too
	sSpokenHits // hits of decisions that chose somebody
	sSeen       // decisions whose true speaker had spoken before
	sSeenHits
	sMacro     // sum of accuracies
	sTalks     // transcripts with a decision
	sMixed     // decisions of mixed rooms
	sSilences  // of them, with true silence
	sBothQuiet // with silence foretold too
	sMixedHits
	sAddressed  // decisions after a message that addresses a candidate
	sOverlooked // of them, with none of these chosen
	sSpoken     // decisions that chose somebody
	sTop        // of them, for the seat chosen most in its transcript
	sGini       // sum of the Gini coefficient of each transcript, times its spoken
	sEntropy    // the same of the entropy
	sTokens     // estimate of the prompts
	nResampled
)

// Sums that no interval is made of.
const (
	sFinishes  = nResampled + iota
	sErrors    //
	sSilent    // decisions of mixed rooms with silence foretold
	sCost      // of the prompts, in millionths
	sRepeated  // decisions made twice
	sDiffering // of them, with other bytes
	sMuted     // speak in truth, decline here
	sWoken     // decline in truth, speak here
	sSwapped   // another speaker
	nSums
)

type sums [nSums]float64

func (s *sums) add(o *sums) {
	for i := range s {
		s[i] += o[i]
	}
}

// A score is what one policy did in one transcript; the recorded history has
// one too.
type score struct {
	sums
	chosen  []int // by seat
	flips   []Flip
	tokens  series         // prompts, by decision
	reasons map[string]int // how often each was given; "" is never among them
	trouble string         // the first error
	answers []answer       // of the first decisions, where details are kept
	why     []string       // their reasons
	ran     *simulated     // in simulate
}

// handed adds the prompt of the seat that was chosen.
func (s *score) handed(p *point, who int) {
	n := p.prompt(who)
	s.sums[sTokens] += float64(n)
	s.sums[sCost] += float64(n) * float64(p.h.seats[who].price.Input) / 1e6
}

// maxReasons bounds the different reasons that are counted in a transcript.
const maxReasons = 200

// keep counts the reason of a decision and, in detail, keeps it.
func (s *score) keep(v *verdict, detailed bool) {
	reason := v.reason()
	if v.err != nil && s.trouble == "" {
		s.trouble = v.err.Error()
	}
	if reason != "" {
		if s.reasons == nil {
			s.reasons = map[string]int{}
		}
		if _, ok := s.reasons[reason]; ok || len(s.reasons) < maxReasons {
			s.reasons[reason]++
		} else {
			s.reasons[otherReasons]++
		}
	}
	if detailed && len(s.answers) < maxDetails {
		s.answers, s.why = append(s.answers, v.said), append(s.why, reason)
	}
	s.tokens.add(s.sums[sTokens])
}

const otherReasons = "(others)"

// maxDetails bounds the decisions of a transcript that are kept in detail.
const maxDetails = 1000

// chose counts a decision.
func (s *score) chose(p *point, v *verdict) {
	a := v.said
	if more := len(p.h.seats) - len(s.chosen); more > 0 {
		s.chosen = append(s.chosen, make([]int, more)...)
	}
	s.sums[sDecisions]++
	switch {
	case a.speaks():
		s.sums[sSpoken]++
		s.chosen[a]++
	case a == failed:
		s.sums[sErrors]++
	default:
		s.sums[sDeclines]++
		if a == finished {
			s.sums[sFinishes]++
		}
	}
	s.addressed(p, a)
	if !p.simulated {
		s.compared(p, v)
		s.silence(p, a)
	}
}

// compared counts how a decision differs from the truth.
func (s *score) compared(p *point, v *verdict) {
	a := v.said
	hit, reciprocal := yes(a == p.truth), yes(a == p.truth)
	switch {
	case v.odds > 0:
		hit, reciprocal = v.odds, v.reciprocal
	case v.place > 0:
		reciprocal = 1 / float64(v.place)
	}
	if v.odds > 0 && !p.truth.speaks() {
		hit, reciprocal = 0, 0
	}
	s.sums[sHits] += hit
	s.sums[sReciprocal] += reciprocal
	if a.speaks() {
		s.sums[sSpokenHits] += hit
	}
	if p.truth.speaks() && p.when[p.truth] > 0 {
		s.sums[sSeen]++
		s.sums[sSeenHits] += hit
	}
	switch {
	case a == p.truth || a == failed:
	case p.truth.speaks() && a.speaks():
		s.sums[sSwapped]++
	case p.truth.speaks():
		s.sums[sMuted]++
	case a.speaks():
		s.sums[sWoken]++
	}
}

func (s *score) addressed(p *point, a answer) {
	asked := false
	for _, who := range p.named {
		asked = asked || who != p.last && p.h.seats[who].may
	}
	if !asked {
		return
	}
	s.sums[sAddressed]++
	if !a.speaks() || !slices.Contains(p.named, int(a)) {
		s.sums[sOverlooked]++
	}
}

// silence maps answers to an agent or to silence: a person, a tool, nobody.
func (s *score) silence(p *point, a answer) {
	if !p.mixed {
		return
	}
	quiet := func(a answer) bool { return !a.speaks() || !p.h.seats[a].agent }
	s.sums[sMixed]++
	switch truth, said := quiet(p.truth), quiet(a); {
	case truth && said:
		s.sums[sSilences]++
		s.sums[sSilent]++
		s.sums[sBothQuiet]++
		s.sums[sMixedHits]++
	case truth:
		s.sums[sSilences]++
	case said:
		s.sums[sSilent]++
	case a == p.truth:
		s.sums[sMixedHits]++
	}
}

// finish adds what is only known at the end of a transcript.
func (s *score) finish(h *history) {
	if s.sums[sDecisions] == 0 {
		return
	}
	s.sums[sTalks] = 1
	s.sums[sMacro] = s.sums[sHits] / s.sums[sDecisions]
	var shares []int
	for i, seat := range h.seats {
		if seat.may && i < len(s.chosen) {
			shares = append(shares, s.chosen[i])
		}
	}
	if s.sums[sSpoken] > 0 {
		s.sums[sTop] = float64(slices.Max(shares))
		s.sums[sGini] = gini(shares) * s.sums[sSpoken]
		s.sums[sEntropy] = entropy(shares) * s.sums[sSpoken]
	}
}

// gini is 0 when all have the same and nears 1 when one has all.
func gini(n []int) float64 {
	n = slices.Clone(n)
	slices.Sort(n)
	var total, weighted float64
	for i, x := range n {
		total += float64(x)
		weighted += float64(2*(i+1)-len(n)-1) * float64(x)
	}
	if total == 0 {
		return 0
	}
	return weighted / (float64(len(n)) * total)
}

// entropy is 1 when all have the same and 0 when one has all: that of the
// shares, over the most that so many could have.
func entropy(n []int) float64 {
	var total, sum float64
	for _, x := range n {
		total += float64(x)
	}
	for _, x := range n {
		if p := float64(x) / total; p > 0 {
			sum -= p * math.Log(p)
		}
	}
	if len(n) < 2 || total == 0 {
		return 0
	}
	return sum / math.Log(float64(len(n)))
}
