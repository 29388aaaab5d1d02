package report

import (
	"fmt"
	"slices"
)

// SetSample says that the decisions are a sample of so many.
func (r *Report) SetSample(of int) {
	r.SampleOf = of
	r.Notes = slices.Insert(r.Notes, 0, fmt.Sprintf(
		"a sample: %s of %s, drawn evenly from all transcripts; a policy is asked at the 20 decisions before each too, and gets older messages together, at most 500",
		count(r.Decisions, "decision"), thousands(of)))
}

// SetPartial says that the replay was interrupted while so many transcripts were
// replayed in part.
func (r *Report) SetPartial(cut int) {
	r.Partial, r.Cut = true, cut
	r.Notes = slices.Insert(r.Notes, 0, fmt.Sprintf(
		"partial: the replay was interrupted after %s; of these transcripts %s in part, and later ones are left out", count(r.Decisions, "decision"), were(cut)))
}

func were(n int) string {
	if n == 1 {
		return "1 was replayed"
	}
	return thousands(n) + " were replayed"
}

// extent says in the summary how many decisions the report covers.
func (r *Report) extent() string {
	s := count(r.Decisions, "decision")
	if r.SampleOf > 0 {
		s = thousands(r.Decisions) + " of " + count(r.SampleOf, "decision") + " (a sample)"
	}
	if r.Partial {
		s += " · PARTIAL: interrupted"
	}
	return s
}
