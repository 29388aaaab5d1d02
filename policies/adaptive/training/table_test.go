package training

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/score"
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
		s, err := ReadSet(path, nil)
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
			fmt.Println(line(set.Name, &measured(t, set.Talks, adaptive.New()).Policies[0], largestState(t, adaptive.New(), set.Talks), untrained))
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
		r, err := Measure(t.Context(), talks, 5, func(float64) {})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(line(set.Name, &r.Policies[1], largestState(t, adaptive.NewWith(learned(t, talks)), talks), trained))
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
func line(name string, s *score.Result, state int, design map[string]float64) string {
	accuracy, interval := 100*s.Accuracy, s.Intervals["accuracy"]
	within := "" // too few talks
	if !interval[0].IsNone() {
		within = fmt.Sprintf(" [%.1f, %.1f]", 100*interval[0], 100*interval[1])
	}
	difference := "| |"
	if d := design[name]; d > 0 {
		difference = fmt.Sprintf("| %.2f | %+.2f", d, float64(accuracy)-d)
	}
	return fmt.Sprintf("| %s | %d | %.2f%s %s | %.4f | %.1f / %.1f / %.1f | %.1f | %d |",
		name, s.Decisions, accuracy, within, difference, s.MRR,
		100*s.Risk.At(25), 100*s.Risk.At(50), 100*s.Risk.At(75), 100*s.Risk.ECE, state)
}

// largestState returns how many bytes the largest state of p has in talks.
func largestState(t *testing.T, p *adaptive.Policy, talks []*history.Conversation) (most int) {
	t.Helper()
	for _, talk := range talks {
		err := walk(talk, choices, func(in *policy.Input, _ *history.Point) policy.JSON {
			state := p.Decide(in).State
			most = max(most, len(state))
			return state
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return most
}
