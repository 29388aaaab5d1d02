package adaptive_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/adaptive/training"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/transcripts"
)

var (
	printFigures = flag.Bool("figures", false, "print what leaving out each part costs in the sets of transcripts in the arguments")
	withTeams    = flag.Bool("taught", true, "leave out features of teams, too")
	withMixture  = flag.Bool("mixture", true, "leave out parts of the mixture")
)

// A set holds talks of a file.
type set struct {
	name  string
	talks []*history.Conversation
}

// TestAblations prints what leaving out each law and each feature costs, if asked to.
// Each argument is a file of conversations in the neutral format, one on each line:
//
//	go test ./policies/adaptive -run TestAblations -timeout 1h -v -figures -args SET...
func TestAblations(t *testing.T) {
	if !*printFigures {
		t.Skip("no -figures")
	}
	var sets []set
	for _, path := range flag.Args() {
		sets = append(sets, read(t, path)...)
	}
	mixture, features := adaptive.Ablations()
	if *withMixture {
		table(t, sets, 0, mixture)
	}
	if *withTeams {
		fmt.Println("\nAfter learning from the team's other conversations, in five folds.")
		table(t, sets, 5, features)
	}
}

// table prints what each ablation changes, in points.
func table(t *testing.T, sets []set, folds int, ablations []adaptive.Ablation) {
	t.Helper()
	fmt.Println("| without | mean | worst set |\n|---|---|---|")
	whole := accuracies(t, sets, folds)
	for _, a := range ablations {
		restore := a.LeaveOut()
		all := accuracies(t, sets, folds)
		restore()
		mean, worst := 0.0, 0
		for i := range all {
			all[i] -= whole[i]
			mean += all[i] / float64(len(all))
			if all[i] < all[worst] {
				worst = i
			}
		}
		fmt.Printf("| %s | %+.2f | %s %+.2f |\n", a.Name, mean, sets[worst].name, all[worst])
	}
}

// accuracies returns the accuracy in each set in per cent, untaught with 0 folds.
func accuracies(t *testing.T, sets []set, folds int) (all []float64) {
	t.Helper()
	for _, s := range sets {
		r, err := training.Measure(t.Context(), s.talks, folds, func(float64) {})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, 100*float64(r.Policies[len(r.Policies)-1].Accuracy))
	}
	return all
}

// read returns the talks of a file. Those of Who&When are of two unrelated systems.
func read(t *testing.T, path string) []set {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	sets := []set{{name: name}, {name: "ww-hand"}}
	for c, err := range transcripts.ReadConversations(f, path) {
		if err != nil {
			t.Fatal(err)
		}
		part := &sets[0]
		if strings.Contains(c.ID, "/algo/") {
			part.name = "ww-algo"
		} else if name == "whowhen" {
			part = &sets[1]
		}
		if talk := source.Replayed(c); training.Decisions(talk) > 0 {
			part.talks = append(part.talks, talk)
		}
	}
	if len(sets[1].talks) == 0 {
		sets = sets[:1]
	}
	return sets
}
