package main

import (
	"fmt"

	"github.com/folkmoot/moot/policies/adaptive/training"
)

const heading = "| set | decisions | accuracy [95 %] | design | difference | MRR | right at 25 / 50 / 75 % answered | ECE | largest state |"

const rule = "|---|---|---|---|---|---|---|---|---|"

// untrained is the accuracy that the design reached, in per cent, on the
// halves that the project was begun with.
var untrained = map[string]float64{
	"ww-algo": 49.17, "ww-hand": 92.37, "delidata": 42.26, "irc-threads": 60.06, "irc-channels": 22.08, "meetings-ami": 50.18,
	"meetings-committee": 55.03, "llmafia": 20.65, "space-short": 79.69, "long-space": 86.24,
}

// taught is the same with five folds of the team's talks.
var taught = map[string]float64{
	"ww-algo": 61.57, "ww-hand": 99.32, "delidata": 46.81, "irc-threads": 60.89, "irc-channels": 23.12, "meetings-ami": 50.78,
	"meetings-committee": 61.48, "llmafia": 21.20, "space-short": 79.40, "long-space": 86.60, "whowhen": 81.10,
}

// line is a row of the table.
func line(name string, s *training.Score, design map[string]float64) string {
	low, high := s.Interval()
	accuracy := 100 * s.Accuracy()
	beside := "| |"
	if d := design[name]; d > 0 {
		beside = fmt.Sprintf("| %.2f | %+.2f", d, accuracy-d)
	}
	return fmt.Sprintf("| %s | %d | %.2f [%.1f, %.1f] %s | %.4f | %.1f / %.1f / %.1f | %.1f | %d |",
		name, s.Decisions, accuracy, 100*low, 100*high, beside, s.MRR(),
		100*s.Surest(.25), 100*s.Surest(.5), 100*s.Surest(.75), 100*s.Miscalibration(), s.State)
}
