package training

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/adaptive"
)

var (
	printFigures  = flag.Bool("figures", false, "print the figures of the documentation for the sets of transcripts in the arguments")
	taughtFigures = flag.Bool("taught", true, "print the figures after learning, too")
	onlySets      = flag.String("only", "", "measure only these sets, names separated by commas")
)

// TestFigures prints all figures of docs/adaptive.md, if asked to. Each argument
// is a file of conversations in the neutral format, one on each line:
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
	fmt.Println(heading + "\n" + rule)
	for _, set := range sets {
		if wanted(set.Name) {
			fmt.Println(line(set.Name, Measure(adaptive.New(), set.Talks), untrained))
		}
	}
	if !*taughtFigures {
		return
	}
	fmt.Println("\nAfter learning from the team's other conversations, in five folds.")
	fmt.Println(heading + "\n" + rule)
	for _, set := range whole {
		if !wanted(set.Name) {
			continue
		}
		talks, near := Distinct(set.Talks)
		if len(near) > 0 {
			fmt.Printf("| %s: %d near duplicates left out |\n", set.Name, len(near))
		}
		fmt.Println(line(set.Name, Folds(talks, 5, nil), trained))
	}
}

func wanted(name string) bool {
	return *onlySets == "" || slices.Contains(strings.Split(*onlySets, ","), name)
}

const heading = "| set | decisions | accuracy [95 %] | before | difference | MRR | right at 25 / 50 / 75 % answered | ECE | largest state |"

const rule = "|---|---|---|---|---|---|---|---|---|"

// untrained is the accuracy of the version with trained weights that this one replaced, in
// per cent, without a team.
var untrained = map[string]float64{
	"ww-algo": 49.59, "ww-hand": 92.37, "delidata": 42.03, "irc-threads": 60.21, "irc-channels": 22.01, "meetings-ami": 50.07,
	"meetings-committee": 55.22, "llmafia": 20.92, "space-short": 79.65, "long-space": 86.27,
}

// trained is its accuracy with a team, in five folds.
var trained = map[string]float64{
	"ww-algo": 62.60, "ww-hand": 99.49, "delidata": 45.52, "irc-threads": 61.00, "irc-channels": 23.20, "meetings-ami": 50.62,
	"meetings-committee": 61.42, "llmafia": 20.38, "space-short": 79.65, "long-space": 86.56, "whowhen": 81.19,
}

// line is a row of the table.
func line(name string, s *Score, design map[string]float64) string {
	low, high := interval(s)
	accuracy := 100 * s.Accuracy()
	difference := "| |"
	if d := design[name]; d > 0 {
		difference = fmt.Sprintf("| %.2f | %+.2f", d, accuracy-d)
	}
	return fmt.Sprintf("| %s | %d | %.2f [%.1f, %.1f] %s | %.4f | %.1f / %.1f / %.1f | %.1f | %d |",
		name, s.Decisions, accuracy, 100*low, 100*high, difference, s.MRR(),
		100*s.Surest(.25), 100*s.Surest(.5), 100*s.Surest(.75), 100*s.Miscalibration(), s.State)
}

// interval returns the 95 % confidence interval of the accuracy, by the bootstrap
// over talks.
func interval(s *Score) (low, high float64) {
	rng := rand.New(rand.NewPCG(1, 1))
	all := make([]float64, 1000)
	for i := range all {
		var n, hits float64
		for range s.PerTalk {
			t := s.PerTalk[rng.IntN(len(s.PerTalk))]
			n += t[0]
			hits += t[1]
		}
		all[i] = hits / n
	}
	slices.Sort(all)
	return all[24], all[974]
}
