package score

import (
	"math"
	"slices"
	"strings"

	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
)

// Bounds of what a tally keeps.
const (
	maxReasons  = 200  // different reasons
	maxDetails  = 1000 // decisions in detail
	maxExamples = 3    // flips
)

// otherReasons stands for the reasons beyond maxReasons.
const otherReasons = "(others)"

// A Tally counts the decisions of one policy in one transcript, or the recorded
// ones. It is used by one goroutine at a time.
type Tally struct {
	sums
	chosen      []float64 // how often, by seat; seats that share a place each count by their probability
	flips       []Flip
	tokens      series         // of prompts, by decision
	reasons     map[string]int // how often each was given
	firstError  string
	timing      *Timing      // of the policy in all transcripts; nil for the recorded decisions
	calibration *Calibration // the same
	simulation  *drive.Simulation
	pairs       pairs // of recorded and chosen, where both are known

	detailed bool             // keep choices and details
	choices  []history.Choice // of the first decisions
	details  []string         // their reasons
}

// addEvaluation counts an evaluation.
func (t *Tally) addEvaluation(p *history.Point, e *drive.Evaluation) {
	if p.Asked >= 0 {
		t.addRecordedDecision(p, e)
		return
	}
	t.addChoice(p, e)
	if t.timing != nil {
		t.timing.addTime(e.Elapsed)
		t.calibration.addDecision(p, e)
		t.addFlip(p, e)
	}
	if e.Repeated {
		t.sums[sumRepeated]++
		t.sums[sumDiffering] += indicator(e.Differed)
	}
	t.addReason(e)
	t.tokens.addTotal(t.sums[sumTokens])
	if e.Choice.Speaks() {
		seat := int(e.Choice)
		n := float64(p.Tokens(seat))
		t.sums[sumTokens] += n
		t.sums[sumCost] += n * float64(p.History.Seats[seat].Price.Input) / 1e6
	}
}

func (t *Tally) addReason(e *drive.Evaluation) {
	reason := e.Reason()
	if e.Err != nil && t.firstError == "" {
		t.firstError = e.Err.Error()
	}
	if reason != "" {
		if t.reasons == nil {
			t.reasons = map[string]int{}
		}
		if n, ok := t.reasons[reason]; ok {
			t.reasons[reason] = n + 1
		} else if len(t.reasons) < maxReasons {
			t.reasons[strings.Clone(reason)] = 1 // it may be a part of the whole decision
		} else {
			t.reasons[otherReasons]++
		}
	}
	if t.detailed && len(t.choices) < maxDetails {
		t.choices, t.details = append(t.choices, e.Choice), append(t.details, strings.Clone(reason))
	}
}

func (t *Tally) addFlip(p *history.Point, e *drive.Evaluation) {
	if p.Simulated || e.Choice == p.Truth || len(t.flips) >= maxExamples {
		return
	}
	h := p.History
	f := Flip{
		Transcript: h.Name, Point: p.N, Turn: p.State.Tally.Turns + 1,
		From: h.NameOf(p.Truth), To: h.NameOf(e.Choice), Reason: strings.Clone(e.Reason()),
	}
	if e.Err != nil {
		f.Reason = e.Err.Error()
	}
	if !h.Conversation() {
		f.Seq = p.Event.Seq
	}
	t.flips = append(t.flips, f)
}

func (t *Tally) addChoice(p *history.Point, e *drive.Evaluation) {
	if more := len(p.History.Seats) - len(t.chosen); more > 0 {
		t.chosen = append(t.chosen, make([]float64, more)...)
	}
	t.sums[sumDecisions]++
	switch {
	case e.Choice.Speaks():
		t.sums[sumSpoken]++
		t.addChosen(e)
	case e.Choice == history.Failed:
		t.sums[sumErrors]++
	default:
		t.sums[sumDeclines]++
		t.sums[sumFinishes] += indicator(e.Choice == history.Finished)
	}
	t.addAddressed(p, e)
	if !p.Simulated {
		t.addComparison(p, e)
		t.addChoiceOrSilence(p, e)
	}
}

func (t *Tally) addChosen(e *drive.Evaluation) {
	if len(e.Tied) == 0 {
		t.chosen[e.Choice]++
	}
	for _, seat := range e.Tied {
		t.chosen[seat] += 1 / float64(len(e.Tied))
	}
}

// addComparison compares the choice with the recorded one.
func (t *Tally) addComparison(p *history.Point, e *drive.Evaluation) {
	t.pairs.add(p.Truth, e.Choice)
	same, hit := e.Choice == p.Truth, e.Hit
	t.sums[sumHits] += hit
	t.sums[sumReciprocal] += e.ReciprocalRank
	t.sums[sumTied] += indicator(e.Choice.Speaks() && len(e.Tied) > 0)
	if e.Choice.Speaks() {
		t.sums[sumSpokenHits] += hit
	}
	if p.Truth.Speaks() && p.LastSpoke[p.Truth] > 0 {
		t.sums[sumSeen]++
		t.sums[sumSeenHits] += hit
	}
	switch {
	case same || e.Choice == history.Failed:
	case p.Truth.Speaks() && e.Choice.Speaks():
		t.sums[sumOther]++
	case p.Truth.Speaks():
		t.sums[sumToDecline]++
	case e.Choice.Speaks():
		t.sums[sumToSpeak]++
	}
}

// addAddressed counts whether an addressed candidate was chosen.
func (t *Tally) addAddressed(p *history.Point, e *drive.Evaluation) {
	addressed := slices.ContainsFunc(p.Addressed, func(seat int) bool { return seat != p.Last && p.History.Seats[seat].Eligible })
	if !addressed {
		return
	}
	t.sums[sumAddressed]++
	t.sums[sumOverlooked] += 1 - e.ChosenShare(func(seat int) bool { return slices.Contains(p.Addressed, seat) })
}

// finishSums adds the sums that are known at the end of the transcript.
func (t *Tally) finishSums(h *history.History) {
	if t.sums[sumDecisions] == 0 {
		return
	}
	t.addSpending(h)
	t.sums[sumTranscripts] = 1
	t.sums[sumMacro] = t.sums[sumHits] / t.sums[sumDecisions]
	if t.sums[sumSpoken] == 0 {
		return
	}
	var turns []float64
	for i, seat := range h.Seats {
		if seat.Eligible && i < len(t.chosen) {
			turns = append(turns, t.chosen[i])
		}
	}
	t.sums[sumTop] = slices.Max(turns)
	t.sums[sumGini] = gini(turns) * t.sums[sumSpoken]
	t.sums[sumEntropy] = entropy(turns) * t.sums[sumSpoken]
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// gini is the Gini coefficient of n: 0 when all are equal, near 1 when one has
// everything.
func gini(n []float64) float64 {
	n = slices.Clone(n)
	slices.Sort(n)
	var total, weighted float64
	for i, x := range n {
		total += x
		weighted += float64(2*(i+1)-len(n)-1) * x
	}
	if total == 0 {
		return 0
	}
	return weighted / (float64(len(n)) * total)
}

// entropy is the Shannon entropy of the shares of n, divided by its maximum: 1
// when all are equal, 0 when one has everything.
func entropy(n []float64) float64 {
	var total, sum float64
	for _, x := range n {
		total += x
	}
	for _, x := range n {
		if p := x / total; p > 0 {
			sum -= p * math.Log(p)
		}
	}
	if len(n) < 2 || total == 0 {
		return 0
	}
	return sum / math.Log(float64(len(n)))
}

// maxSeries is how many values a series keeps at most.
const maxSeries = 512

// A series keeps a growing total at evenly spaced steps. When it is full, it
// drops every other value and doubles the step.
type series struct {
	values []float64 // after each step-th addition
	step   int
	n      int
	last   float64
}

func (s *series) addTotal(total float64) {
	s.step = max(s.step, 1)
	s.n++
	s.last = total
	if s.n%s.step != 0 {
		return
	}
	if s.values = append(s.values, total); len(s.values) == maxSeries {
		for i := range maxSeries / 2 {
			s.values[i] = s.values[2*i+1]
		}
		s.values = s.values[:maxSeries/2]
		s.step *= 2
	}
}

// all returns the values, and the last total.
func (s *series) all() []float64 {
	out := s.values
	if s.step > 0 && s.n%s.step != 0 {
		out = append(out[:len(out):len(out)], s.last)
	}
	return out
}
