package policycmd

import (
	"fmt"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/inference"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/replay/report"
	"github.com/folkmoot/moot/replay/score"
)

// defaultFolds is into how many parts talks are dealt, unless there are fewer.
const defaultFolds = 5

// learnResamples is how many resamples an interval is made of.
const learnResamples = 1000

// A learnDifference is the accuracy of the taught policy minus that of the
// untaught one, on the same talks. That of silence is balanced.
type learnDifference struct {
	Accuracy   score.Figure    `json:"accuracy"`
	Interval   [2]score.Figure `json:"interval"` // 95 %; null under six talks
	P          score.Figure    `json:"p"`
	Detectable score.Figure    `json:"detectable"` // smallest difference that so many talks could show
}

// differenceIn is the difference of the accuracy of two policies in a replay. It is nil for
// a single talk.
func differenceIn(r *report.Report) *learnDifference {
	a, b := r.Policies[0].Policy, r.Policies[1].Policy
	for _, c := range r.Comparisons {
		if c.A == a && c.B == b && c.Figure == "accuracy" {
			d := &learnDifference{Accuracy: c.Difference, Interval: c.Interval, P: c.P, Detectable: score.None()}
			if c.Detectable != nil {
				d.Detectable = *c.Detectable
			}
			return d
		}
	}
	return nil
}

// differenceOf compares measurements of the same talks in the same order.
func differenceOf(untaught, taught inference.Rows, figure inference.Figures) *learnDifference {
	d := inference.Differences(untaught, taught, figure, 1, learnResamples)[0]
	return &learnDifference{
		Accuracy: score.Figure(d.Value), P: score.Figure(d.P), Detectable: score.Figure(d.Detectable),
		Interval: [2]score.Figure{score.Figure(d.Interval[0]), score.Figure(d.Interval[1])},
	}
}

// shown reports whether the talks show that learning is worth something.
func (d *learnDifference) shown() bool { return d != nil && d.Interval[0] > 0 }

// text is the difference in percentage points.
func (d *learnDifference) text() string {
	s := fmt.Sprintf("%+.1f points", 100*float64(d.Accuracy))
	if d.Interval[0].IsNone() {
		return s + fmt.Sprintf(", no interval: fewer than %d talks", inference.MinUnits)
	}
	s += fmt.Sprintf(" [%+.1f,%+.1f]", 100*float64(d.Interval[0]), 100*float64(d.Interval[1]))
	if !d.Detectable.IsNone() {
		s += fmt.Sprintf("; so many talks could show %.1f", 100*float64(d.Detectable))
	}
	return s
}

// refusal says why settings are not written.
func (r *learnReport) refusal() error {
	what := "no settings were written: a single talk cannot show that learning helps"
	if d := r.Difference; d != nil {
		what = "no settings were written: taught minus untaught is " + d.text()
		if !d.Interval[0].IsNone() {
			what += ", and the interval is not above 0"
		}
	}
	if d := r.SilenceDifference; d != nil {
		what += "; of silence, " + d.text()
	}
	return &problem.Error{Code: "POL-LEARN-CHANCE", What: what, Fix: "give more talks of the same team, or write them nevertheless with --force"}
}

// foldsOf is into how many parts so many talks are dealt: 0 for a single one.
func (f *learnFlags) foldsOf(talks int) (int, error) {
	switch {
	case f.folds > talks:
		return 0, &problem.Error{
			Code: "POL-LEARN", What: fmt.Sprintf("%s cannot be dealt out into %d parts", app.Count(talks, "talk"), f.folds),
			Fix: "give more transcripts, or fewer --folds",
		}
	case f.folds > 0:
		return f.folds, nil
	case talks < 2:
		return 0, nil
	}
	return min(defaultFolds, talks), nil
}
