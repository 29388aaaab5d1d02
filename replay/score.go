package replay

import (
	"slices"
	"time"
)

// What is counted of each transcript. Sums add up, so a figure of many
// transcripts, or of a resample of them, is a figure of a sum.
const (
	sDecisions = iota
	sHits
	sReciprocal // sum of 1/rank
	sDeclines   // finishes too
	sFinishes
	sErrors
	sSpokenHits // hits of decisions that chose somebody
	sSeen       // decisions whose true speaker had spoken before
	sSeenHits
	sMacro     // sum of accuracies
	sTalks     // transcripts with a decision
	sMixed     // decisions of mixed rooms
	sSilences  // of them, with true silence
	sSilent    // of them, with silence foretold
	sBothQuiet // both
	sMixedHits
	sAddressed  // decisions after a message that addresses a candidate
	sOverlooked // of them, with none of these chosen
	sSpoken     // decisions that chose somebody
	sTop        // of them, for the seat chosen most in its transcript
	sGini       // sum of the Gini coefficient of each transcript, times its spoken
	sTokens     // estimate of the prompts
	sRepeated   // decisions made twice
	sDiffering  // of them, with other bytes
	sMuted      // speak in truth, decline here
	sWoken      // decline in truth, speak here
	sSwapped    // another speaker
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
	answers []answer
	times   []time.Duration
	flips   []Flip
	reasons []string // of the first decisions, where details are kept
	tokens  []int    // prompts, by decision
	trouble string   // the first error
}

// handed adds the prompt of the latest decision, in tokens.
func (s *score) handed(n int) {
	s.sums[sTokens] += float64(n)
	for len(s.tokens) < len(s.answers)-1 {
		s.tokens = append(s.tokens, 0) // decisions that asked nobody
	}
	s.tokens = append(s.tokens, n)
}

// chose counts a decision.
func (s *score) chose(h *history, p *point, a answer) {
	s.sums[sDecisions]++
	s.answers = append(s.answers, a)
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
	s.addressed(h, p, a)
	s.compared(p, a)
	s.silence(h, p, a)
}

// compared counts how a differs from the truth.
func (s *score) compared(p *point, a answer) {
	hit := a == p.truth
	if hit {
		s.sums[sHits]++
	}
	if hit && a.speaks() {
		s.sums[sSpokenHits]++
	}
	if p.truth.speaks() && p.when[p.truth] > 0 {
		s.sums[sSeen]++
		if hit {
			s.sums[sSeenHits]++
		}
	}
	switch {
	case hit || a == failed:
	case p.truth.speaks() && a.speaks():
		s.sums[sSwapped]++
	case p.truth.speaks():
		s.sums[sMuted]++
	case a.speaks():
		s.sums[sWoken]++
	}
}

func (s *score) addressed(h *history, p *point, a answer) {
	asked := false
	for _, who := range p.named {
		asked = asked || who != p.last && h.seats[who].may
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
func (s *score) silence(h *history, p *point, a answer) {
	if !h.mixed() {
		return
	}
	quiet := func(a answer) bool { return !a.speaks() || !h.seats[a].agent }
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
		if seat.may {
			shares = append(shares, s.chosen[i])
		}
	}
	if s.sums[sSpoken] > 0 {
		s.sums[sTop] = float64(slices.Max(shares))
		s.sums[sGini] = gini(shares) * s.sums[sSpoken]
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
