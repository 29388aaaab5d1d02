package policycmd

import (
	"fmt"
	"io"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/adaptive/training"
	"github.com/folkmoot/moot/replay/history"
)

// The lessons hold what settings are made of. Each part is judged by its own difference
// and is nil if the talks do not show that it helps, except with --force.
type lessons struct {
	team *adaptive.Team
	head *adaptive.Head // of when an agent among people speaks
}

// leftOut returns the keys of what was learned and is not in the settings.
func (l *lessons) leftOut(r *learnReport) (keys []string) {
	if l.team == nil {
		keys = append(keys, "team")
	}
	if l.head == nil && r.SilenceDifference != nil {
		keys = append(keys, "silence_head")
	}
	return keys
}

// judgeSilence learns when an agent speaks. The head is nil unless it is to be written.
func (r *learnReport) judgeSilence(talks []*history.Conversation, force bool) (*adaptive.Head, error) {
	head, s, err := training.LearnSilence(talks)
	if r.Silence = s; head == nil || err != nil {
		return nil, err
	}
	r.SilenceDifference = differenceOf(s.Untaught, s.Taught, func(total, out []float64) { out[0] = training.Balanced(total) })
	if !force && !r.SilenceDifference.shown() {
		return nil, nil
	}
	return head, nil
}

// printSilence prints what recorded decisions to speak or to be silent have taught.
func (r *learnReport) printSilence(w io.Writer) {
	s := r.Silence
	switch {
	case s == nil:
	case s.Balanced > 0:
		fmt.Fprintf(w, "silence: %.1f %% balanced of %s in %s, each talk after learning from other talks;\nfalse speaks %.1f %%, false silences %.1f %%",
			100*s.Balanced, app.Count(s.Decisions, "recorded decision"), app.Count(s.Talks, "talk"), 100*s.FalseSpeaks, 100*s.FalseSilences)
		if !s.Learned {
			fmt.Fprint(w, ": no better than chance, so it is not in the settings")
		}
		fmt.Fprintln(w)
		if r.SilenceDifference != nil {
			fmt.Fprintf(w, "silence, taught minus untaught: %s\n", r.SilenceDifference.text())
		}
	default:
		fmt.Fprintf(w, "silence: %s in %s: too few to learn from, it takes silences and decisions to speak in two talks\n",
			app.Count(s.Decisions, "recorded decision"), app.Count(s.Talks, "talk"))
	}
}
