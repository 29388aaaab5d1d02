package score

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// An OutcomeField names what each transcript has achieved: a field of it, which is a
// number. With Success the outcome is 1 if the field fulfills it, and otherwise 0.
type OutcomeField struct {
	Name    string
	Text    string             // as the user wrote it
	Success func(float64) bool // nil: the number itself is the outcome
}

// An Outcome is what a report says about the outcomes of its transcripts.
type Outcome struct {
	Field       string    `json:"field"`
	Transcripts int       `json:"transcripts"` // that have it
	Without     int       `json:"without"`     // that do not
	Mean        Figure    `json:"mean"`
	Interval    [2]Figure `json:"interval"`

	// Succeeded and Failed count the transcripts whose outcome is 1 and 0. Both are 0 when
	// there are other values, and then no figure is split.
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`

	Policies []PolicyOutcome `json:"policies"`

	// Fields are the fields that the transcripts have.
	Fields []string `json:"fields"`

	ByTranscript []Figure `json:"-"` // in their order; none for those without
}

// A PolicyOutcome is what the outcomes say about a policy.
type PolicyOutcome struct {
	Policy  string `json:"policy"`
	Success *Split `json:"success,omitempty"` // agreement in the transcripts that succeeded
	Failure *Split `json:"failure,omitempty"`

	// Whole estimates the mean outcome of rooms in which the policy decides, and Single
	// that of rooms in which it makes one of the decisions and the recorded policy the
	// others. Stands is the share of the decisions at which the recorded one stands
	// because the policy gives no turn. They are nil when no room explores.
	Whole  *Estimate `json:"whole,omitempty"`
	Single *Estimate `json:"single,omitempty"`
	Stands Figure    `json:"stands"`
}

// A Split is the agreement of a policy in some of the transcripts.
type Split struct {
	Transcripts int                    `json:"transcripts"`
	Decisions   int                    `json:"decisions"`
	Figures     map[string]SplitFigure `json:"figures"` // by key
}

// A SplitFigure is a figure of some of the transcripts.
type SplitFigure struct {
	Value    Figure    `json:"value"`
	Interval [2]Figure `json:"interval"`
	N        int       `json:"n"`
}

// splitFigures are the figures that are split by success.
var splitFigures = []string{"accuracy", "macro_accuracy", "accuracy_seen", "selective_accuracy", "mrr", "decline_rate", "balanced_accuracy", "addressed_not_chosen"}

// An Estimate is an inverse-propensity estimate. Value is none if Note says why.
type Estimate struct {
	Value     Figure    `json:"value"`
	Interval  [2]Figure `json:"interval"`
	Recorded  Figure    `json:"recorded"`  // the same mean of what was recorded
	Sample    int       `json:"sample"`    // rooms or decisions
	Effective Figure    `json:"effective"` // size of the sample that would tell as much
	Note      string    `json:"note,omitempty"`
}

// Bounds below which an estimate has no number.
const (
	minEffectiveShare = 0.1
	minEffective      = 6
)

// Outcome returns what the outcomes of the transcripts say. It draws n resamples with so
// many goroutines. all says that the policies were asked at all decisions, without which
// the weights of whole rooms are not known.
func (b *Batch) Outcome(f OutcomeField, all bool, n, workers int) *Outcome {
	o := &Outcome{Field: f.Text, Mean: None(), Interval: [2]Figure{None(), None()}, Fields: b.fields()}
	var known []weighted
	binary := true
	values := make([]float64, len(b.Runs))
	for i, r := range b.Runs {
		v, ok := f.of(r)
		if values[i] = v; !ok {
			values[i] = math.NaN()
		}
		o.ByTranscript = append(o.ByTranscript, Figure(values[i]))
		if !ok {
			o.Without++
			continue
		}
		known = append(known, equally(1, v))
		binary = binary && (v == 0 || v == 1)
	}
	if o.Transcripts = len(known); o.Transcripts == 0 {
		return o
	}
	o.Mean = Figure(weightedMean(known))
	o.Interval = weightedInterval(known, float64(o.Mean), variance(known), binary)
	for k := range b.Policies {
		x := b.estimates(k, values, binary)
		if !all {
			x.Whole = nil
		}
		o.Policies = append(o.Policies, x)
	}
	if binary {
		b.split(o, values, n, workers)
	}
	return o
}

// of returns the outcome of a transcript.
func (f OutcomeField) of(r *Run) (float64, bool) {
	v, ok := r.History.Fields()[f.Name]
	if ok && f.Success != nil {
		v = indicator(f.Success(v))
	}
	return v, ok
}

// fields returns the names of the fields that the transcripts have.
func (b *Batch) fields() []string {
	all := map[string]bool{}
	for _, r := range b.Runs {
		for name := range r.History.Fields() {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// split adds the agreement in the transcripts that succeeded, and in those that did not.
func (b *Batch) split(o *Outcome, values []float64, n, workers int) {
	part := func(of float64) []*Split {
		some := *b
		some.Runs = nil
		for i, r := range b.Runs {
			if values[i] == of {
				some.Runs = append(some.Runs, r)
			}
		}
		all := make([]*Split, len(b.Policies))
		if len(some.Runs) == 0 {
			return all
		}
		resamples := some.Resample(n, workers)
		for k := range all {
			r := some.Result(k, resamples)
			all[k] = &Split{Transcripts: len(some.Runs), Decisions: r.Decisions, Figures: map[string]SplitFigure{}}
			for _, key := range splitFigures {
				v, _ := r.Figure(key)
				all[k].Figures[key] = SplitFigure{v, r.Intervals[key], r.N[key]}
			}
		}
		return all
	}
	success, failure := part(1), part(0)
	for k := range o.Policies {
		o.Policies[k].Success, o.Policies[k].Failure = success[k], failure[k]
	}
	for _, v := range values {
		o.Succeeded += int(indicator(v == 1))
		o.Failed += int(indicator(v == 0))
	}
}

// estimates returns the inverse-propensity estimates for a policy.
func (b *Batch) estimates(policy int, values []float64, binary bool) PolicyOutcome {
	out := PolicyOutcome{Policy: b.Policies[policy].Name, Stands: None()}
	var whole, rooms, single, decisions []weighted
	open, stands := 0, 0
	for i, r := range b.Runs {
		d := &r.drawn[policy]
		if !d.explores || math.IsNaN(values[i]) {
			continue
		}
		open += d.open
		stands += d.stands
		whole = append(whole, d.whole.of(values[i]))
		single = append(single, d.single.of(values[i]))
		rooms, decisions = append(rooms, equally(1, values[i])), append(decisions, equally(d.open-d.stands, values[i]))
	}
	if len(rooms) == 0 {
		return out
	}
	out.Stands = Figure(Ratio(float64(stands), float64(open)))
	spread := variance(rooms)
	out.Whole = estimate(whole, rooms, len(rooms), "rooms", spread, binary)
	out.Single = estimate(single, decisions, open-stands, "decisions", spread, binary)
	return out
}

// estimate estimates the mean of weighted values, which have the variance spread.
// recorded has the same values with equal weights.
func estimate(clusters, recorded []weighted, sample int, of string, spread float64, binary bool) *Estimate {
	e := &Estimate{
		Value: None(), Interval: [2]Figure{None(), None()}, Recorded: Figure(weightedMean(recorded)),
		Sample: sample, Effective: Figure(effectiveSize(clusters)),
	}
	if least := max(minEffectiveShare*float64(sample), minEffective); !(float64(e.Effective) >= least) {
		e.Note = fmt.Sprintf("too few: worth %.1f of %d %s, %.0f are needed", float64(e.Effective), sample, of, math.Ceil(least))
		return e
	}
	e.Value = Figure(weightedMean(clusters))
	e.Interval = weightedInterval(clusters, float64(e.Value), spread, binary)
	return e
}
