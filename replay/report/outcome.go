package report

import (
	"fmt"
	"strings"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/replay/score"
)

// SetOutcome adds the figures about outcomes.
func (r *Report) SetOutcome(o *score.Outcome) {
	r.Outcome = o
	for i, v := range o.ByTranscript {
		if !v.IsNone() {
			r.Transcripts[i].Outcome = &v
		}
	}
	if g := r.outcomeGroup(); o.Transcripts > 0 && len(r.groupTable(g).Rows) == 0 { // no policy has a figure
		r.Notes = append(r.Notes, strings.ToLower(g.title[:1])+g.title[1:])
	}
}

// outcome formats an outcome: in percent where all are 0 or 1.
func (r *Report) outcome(f float64) string {
	if r.Outcome.Succeeded+r.Outcome.Failed > 0 {
		return percent(f)
	}
	return decimal(f)
}

// splitNames are the figures that are split by success, as the table calls them.
var splitNames = []struct {
	key, name string
	format    func(float64) string
}{
	{"accuracy", "same choice", percent},
	{"macro_accuracy", "mean of transcripts", percent},
	{"accuracy_seen", "speaker had spoken", percent},
	{"selective_accuracy", "of those not declined", percent},
	{"mrr", "mean reciprocal rank", decimal},
	{"decline_rate", "declines", percent},
	{"balanced_accuracy", "balanced", percent},
	{"addressed_not_chosen", "addressed but not chosen", percent},
}

// outcomeGroup has the figures about outcomes. Without any it is empty.
func (r *Report) outcomeGroup() group {
	o := r.Outcome
	if o == nil || o.Transcripts == 0 {
		return group{}
	}
	about := fmt.Sprintf("mean %s of %s", r.outcome(float64(o.Mean)), count(o.Transcripts, "transcript"))
	if o.Succeeded+o.Failed > 0 {
		about = fmt.Sprintf("%s succeeded, %s failed", count(o.Succeeded, "transcript"), thousands(o.Failed))
	}
	if o.Without > 0 {
		about += fmt.Sprintf(", %s without", thousands(o.Without))
	}
	g := group{title: fmt.Sprintf("Outcome %s: %s", term.Line(o.Field), about)}
	estimates := []struct {
		name string
		of   func(*score.PolicyOutcome) *score.Estimate
	}{
		{"expected, whole rooms", func(p *score.PolicyOutcome) *score.Estimate { return p.Whole }},
		{"expected, single decisions", func(p *score.PolicyOutcome) *score.Estimate { return p.Single }},
	}
	for _, e := range estimates {
		g.lines = append(g.lines, r.estimateLine(e.name, e.of))
	}
	for _, f := range splitNames {
		g.lines = append(g.lines,
			splitLine(f.name+", success", f.key, f.format, func(p *score.PolicyOutcome) *score.Split { return p.Success }),
			splitLine(f.name+", failure", f.key, f.format, func(p *score.PolicyOutcome) *score.Split { return p.Failure }))
	}
	return g
}

// ofPolicy returns what the outcomes say about a policy, or nil.
func (r *Report) ofPolicy(name string) *score.PolicyOutcome {
	for i := range r.Outcome.Policies {
		if p := &r.Outcome.Policies[i]; p.Policy == name {
			return p
		}
	}
	return nil
}

// estimateLine is a row for an inverse-propensity estimate.
func (r *Report) estimateLine(name string, of func(*score.PolicyOutcome) *score.Estimate) line {
	first := func(of func(*score.PolicyOutcome) *score.Estimate) *score.Estimate {
		for i := range r.Outcome.Policies {
			if e := of(&r.Outcome.Policies[i]); e != nil {
				return e
			}
		}
		return nil
	}
	return line{
		name: name,
		n: func(*Report) string {
			if e := first(of); e != nil {
				return thousands(e.Sample)
			}
			return missing
		},
		recorded: func(r *Report) string {
			if e := first(of); e != nil {
				return r.outcome(float64(e.Recorded))
			}
			return missing
		},
		policy: func(r *Report, p *score.Result) string {
			x := r.ofPolicy(p.Policy)
			switch {
			case x == nil || of(x) == nil:
				return missing
			case of(x).Note != "":
				return of(x).Note
			}
			e := of(x)
			worth := fmt.Sprintf("worth %.0f", float64(e.Effective))
			if e.Interval[0].IsNone() {
				return noted(r.outcome(float64(e.Value)), worth)
			}
			return noted(r.outcome(float64(e.Value)), bounds(e.Interval, r.outcome), worth)
		},
	}
}

// splitLine is a row for a figure in the transcripts that succeeded or failed.
func splitLine(name, key string, format func(float64) string, of func(*score.PolicyOutcome) *score.Split) line {
	return line{name: name, policy: func(r *Report, p *score.Result) string {
		x := r.ofPolicy(p.Policy)
		if x == nil || of(x) == nil {
			return missing
		}
		f := of(x).Figures[key]
		s := format(float64(f.Value))
		if f.Interval[0].IsNone() || s == missing {
			return s
		}
		return noted(s, bounds(f.Interval, format), thousands(f.N)+" decisions")
	}}
}

// shownTranscripts is how many transcripts the tables list with their outcomes.
const shownTranscripts = 12

// outcomeTable lists transcripts with their outcomes and the share of equal choices.
func (r *Report) outcomeTable() Table {
	t := Table{Title: "Outcomes by transcript", Head: []string{"transcript", "outcome", "decisions"}}
	if r.Outcome == nil {
		return t
	}
	for i := range r.Policies {
		t.Head = append(t.Head, shortName(r.Policies[i].Policy))
	}
	for i := range r.Transcripts {
		h := &r.Transcripts[i]
		if h.Outcome == nil {
			continue
		}
		if len(t.Rows) == shownTranscripts {
			t.Note = fmt.Sprintf("The first %d of %s; -o json has all.", shownTranscripts, thousands(r.Outcome.Transcripts))
			break
		}
		row := []string{term.Line(h.Name), r.outcome(float64(*h.Outcome)), thousands(h.Decisions)}
		for _, hits := range h.Hits {
			row = append(row, percent(score.Ratio(float64(hits), float64(h.Decisions))))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
