package training

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/adaptive"
)

var (
	printFigures = flag.Bool("figures", false, "print the figures of the documentation for the sets of transcripts in the arguments")
	onlySets     = flag.String("only", "", "measure only these sets, names separated by commas")
)

// TestFigures prints all figures of docs/adaptive.md, if asked to. Each argument
// is a file of conversations in the neutral format, one on each line. The prior
// of each set is trained on the other sets, without those of the same source:
//
//	go test ./policies/adaptive/training -run TestFigures -timeout 1h -v -figures -args SET...
func TestFigures(t *testing.T) {
	if !*printFigures {
		t.Skip("no -figures")
	}
	var sets, whole []*Set
	for _, path := range flag.Args() {
		s, err := ReadSet(path)
		if err != nil {
			t.Fatal(err)
		}
		parts := s.Split()
		if len(parts) > 1 {
			whole = append(whole, s)
		}
		whole = append(whole, parts...)
		sets = append(sets, parts...)
	}
	samples := Collect(sets)
	fmt.Println(heading + " renamed |\n" + rule + "---|")
	for _, set := range sets {
		if !wanted(set.Name) {
			continue
		}
		p := adaptive.NewWith(samples.Prior(func(s *Set) bool { return s.Family == set.Family }), nil)
		s, renamed := Measure(p, set.Talks), Measure(p, Renamed(set.Talks, 1))
		fmt.Println(line(set.Name, s, untrained) + fmt.Sprintf(" %+.2f |", 100*(renamed.Accuracy()-s.Accuracy())))
	}
	fmt.Println("\nAfter learning from the team's other conversations, in five folds.")
	fmt.Println(heading + "\n" + rule)
	for _, set := range whole {
		if !wanted(set.Name) {
			continue
		}
		prior := samples.Prior(func(s *Set) bool { return s.Source == set.Source })
		talks, near := Distinct(set.Talks)
		if len(near) > 0 {
			fmt.Printf("| %s: %d near duplicates left out |\n", set.Name, len(near))
		}
		fmt.Println(line(set.Name, Folds(prior, talks, 5, nil), trained))
	}
}

func wanted(name string) bool {
	return *onlySets == "" || slices.Contains(strings.Split(*onlySets, ","), name)
}

const heading = "| set | decisions | accuracy [95 %] | design | difference | MRR | right at 25 / 50 / 75 % answered | ECE | largest state |"

const rule = "|---|---|---|---|---|---|---|---|---|"

// untrained is the accuracy of the prototype in per cent, without a team.
var untrained = map[string]float64{
	"ww-algo": 49.17, "ww-hand": 92.37, "delidata": 42.26, "irc-threads": 60.06, "irc-channels": 22.08, "meetings-ami": 50.18,
	"meetings-committee": 55.03, "llmafia": 20.65, "space-short": 79.69, "long-space": 86.24,
}

// trained is the accuracy of the prototype with a team, in five folds.
var trained = map[string]float64{
	"ww-algo": 61.57, "ww-hand": 99.32, "delidata": 46.81, "irc-threads": 60.89, "irc-channels": 23.12, "meetings-ami": 50.78,
	"meetings-committee": 61.48, "llmafia": 21.20, "space-short": 79.40, "long-space": 86.60, "whowhen": 81.10,
}

// line is a row of the table.
func line(name string, s *Score, design map[string]float64) string {
	low, high := s.Interval()
	accuracy := 100 * s.Accuracy()
	difference := "| |"
	if d := design[name]; d > 0 {
		difference = fmt.Sprintf("| %.2f | %+.2f", d, accuracy-d)
	}
	return fmt.Sprintf("| %s | %d | %.2f [%.1f, %.1f] %s | %.4f | %.1f / %.1f / %.1f | %.1f | %d |",
		name, s.Decisions, accuracy, 100*low, 100*high, difference, s.MRR(),
		100*s.Surest(.25), 100*s.Surest(.5), 100*s.Surest(.75), 100*s.Miscalibration(), s.State)
}
