package report

import "github.com/folkmoot/moot/replay/score"

// SetOutcome adds the figures about outcomes.
func (r *Report) SetOutcome(o *score.Outcome) {
	r.Outcome = o
	for i, v := range o.ByTranscript {
		if !v.IsNone() {
			r.Transcripts[i].Outcome = &v
		}
	}
}
