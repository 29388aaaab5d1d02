// Command figures measures package adaptive over transcripts and prints every
// figure that the documentation has of it.
//
//	go run ./policies/adaptive/training/figures FILE...
//
// A FILE holds conversations in the neutral format, one a line, and is a set.
// The prior of every set is trained anew on all other sets, without the set
// itself and those of the same source.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/adaptive/training"
)

func main() {
	only := flag.String("only", "", "measure these sets only, names with commas between")
	untaught := flag.Bool("untaught", false, "measure the policy without learning from other talks only")
	flag.Parse()
	if err := run(flag.Args(), *only, *untaught); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func run(files []string, only string, untaught bool) error {
	var sets, whole []*training.Set
	for _, path := range files {
		s, err := training.ReadSet(path)
		if err != nil {
			return err
		}
		parts := s.Split()
		if len(parts) > 1 {
			whole = append(whole, s)
		}
		whole = append(whole, parts...)
		sets = append(sets, parts...)
	}
	samples := training.Collect(sets)
	fmt.Println("Untaught. The prior of each set leaves out the set and those of the same source.")
	fmt.Println(heading + " renamed |\n" + rule + "---|")
	for _, set := range sets {
		if !wanted(only, set.Name) {
			continue
		}
		prior := samples.Prior(func(s *training.Set) bool { return s.Family == set.Family })
		p := adaptive.NewWith(prior, nil)
		s, renamed := training.Measure(p, set.Talks), training.Measure(p, training.Renamed(set.Talks, 1))
		fmt.Println(line(set.Name, s, untrained) + fmt.Sprintf(" %+.2f |", 100*(renamed.Accuracy()-s.Accuracy())))
	}
	if untaught {
		return nil
	}
	fmt.Println()
	fmt.Println("Taught by the team's other talks, in five folds.")
	fmt.Println(heading + "\n" + rule)
	for _, set := range whole {
		if !wanted(only, set.Name) {
			continue
		}
		prior := samples.Prior(func(s *training.Set) bool { return s.Source == set.Source })
		talks, near := training.Distinct(set.Talks)
		s := training.Folds(prior, talks, 5, nil)
		if len(near) > 0 {
			fmt.Printf("| %s: %d talks left out, near to others |\n", set.Name, len(near))
		}
		fmt.Println(line(set.Name, s, taught))
	}
	return nil
}

func wanted(only, name string) bool {
	return only == "" || slices.Contains(strings.Split(only, ","), name)
}
