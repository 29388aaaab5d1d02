package training

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/wasteguard"
	"github.com/folkmoot/moot/transcripts"
)

// whoAndWhen is the set of runs with labelled errors, if it is present.
const whoAndWhen = "../../../../shared/transcripts/whowhen.jsonl.gz"

// readRuns reads the labelled runs of a file.
func readRuns(t testing.TB, path string) []*Run {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Skip("no labelled runs: ", err)
	}
	defer f.Close()
	var runs []*Run
	for c, err := range transcripts.ReadConversations(f, path) {
		if err != nil {
			t.Fatal(err)
		}
		if turn, ok := c.Mistake(transcripts.MistakeField); ok {
			runs = append(runs, NewRun(c, turn))
		}
	}
	return runs
}

// TestFigures holds the goals on the labelled runs, of which each part is judged after
// learning from the others.
func TestFigures(t *testing.T) {
	t.Parallel()
	runs := readRuns(t, whoAndWhen)
	if near := Relate(runs); near != 0 {
		t.Errorf("%d runs nearly repeat another one", near)
	}
	f := Measure(runs, 5, nil)
	for _, g := range f.Groups {
		t.Logf("%-13s %2d runs %4d turns, after %.3f flagged %.3f trivial %.3f learnt %.3f %.3f difference %+.3f %+.3f", g.Name, g.Runs, g.Turns, g.After, g.Flagged, g.Trivial, g.Guard, g.Interval, g.Difference, g.Between)
		if g.Difference <= 0 {
			t.Errorf("%s: the learnt guard is not better than the trivial rule", g.Name)
		}
	}
	if f.All().Between[0] <= 0 {
		t.Errorf("the interval of the difference is %v", f.All().Between)
	}
	for _, w := range f.At {
		t.Logf("%+.3f", w)
		if w.Flagged > .0995 && w.Flagged < .101 && w.Saved < .3 {
			t.Errorf("%.1f %% of the turns after errors are saved", 100*w.Saved)
		}
	}
}

// TestShippedModel: the model of the policy is the one that these runs teach.
func TestShippedModel(t *testing.T) {
	t.Parallel()
	m := Learn(readRuns(t, whoAndWhen))
	want, err := source(m)
	if err != nil {
		t.Fatal(err)
	}
	const path = "../shipped.go"
	if os.Getenv("MOOT_REWRITE") != "" {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Error("shipped.go differs: MOOT_REWRITE=1 go test ./policies/wasteguard/training -run TestShippedModel, then go generate ./policies: ", err)
	}
}

// source is a model as Go source.
func source(m *wasteguard.Model) ([]byte, error) {
	var b strings.Builder
	b.WriteString("package wasteguard\n\n// shipped is the model of a policy without a learnt one. TestShippedModel in package training\n" +
		"// writes it, from the runs of Who&When (docs/waste.md).\nvar shipped = Model{\n")
	for _, part := range []struct {
		name string
		of   *wasteguard.Features
	}{{"Weights", &m.Weights}, {"Means", &m.Means}} {
		fmt.Fprintf(&b, "%s: Features{\n", part.name)
		for i, x := range part.of {
			fmt.Fprintf(&b, "%s: %v,\n", fields[i], x)
		}
		b.WriteString("},\n")
	}
	fmt.Fprintf(&b, "Cuts: %#v,\n}\n", m.Cuts)
	return format.Source([]byte(b.String()))
}

// fields are the names of the constants of package wasteguard, in their order.
var fields = [wasteguard.Count]string{"tool", "position", "squared", "length", "digits", "list", "code", "invented", "failure", "asked"}
