package policycmd

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/policies/wasteguard/training"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/transcripts"
)

// A guardReport is the result of `moot policy learn --labels`.
type guardReport struct {
	Runs       int               `json:"runs"`  // with a label
	Turns      int               `json:"turns"` // of these
	Unlabelled int               `json:"unlabelled"`
	Near       int               `json:"near"` // runs that nearly repeat another one; they are in one fold
	Figures    *training.Figures `json:"figures"`
	File       string            `json:"file,omitempty"`
	Bytes      int               `json:"bytes,omitempty"`
}

// learnLabels teaches the policy wasteguard from labelled errors.
func (a *commands) learnLabels(ctx context.Context, src *source.Sources, f learnFlags) error {
	defer src.Close()
	labels, err := readLabels(f.labels)
	if err != nil {
		return err
	}
	r := &guardReport{}
	runs, err := r.read(ctx, src, labels)
	if err != nil {
		return err
	}
	folds := cmp.Or(f.folds, 5)
	if err := enough(runs, folds); err != nil {
		return err
	}
	p := a.Percent("folds")
	r.Figures = training.Measure(runs, folds, p.Part)
	p.End()
	if all := r.Figures.All(); !(all.Between[0] > 0) && !f.force {
		return cmp.Or(a.Emit(r, r.print), error(&problem.Error{
			Code: "POL-LEARN-CHANCE", What: fmt.Sprintf("no settings were written: the interval of the difference to the trivial rule, %s, touches 0", between(all.Between)),
			Fix: "give more labelled runs, or write them nevertheless with --force",
		}))
	}
	settings := append(training.Learn(runs).AppendJSON([]byte(`{"model":`)), "}\n"...)
	r.File, r.Bytes = f.out, len(settings)
	if f.out == "-" {
		_, err := a.Stdout.Write(settings)
		return err
	}
	if err := writeNew(f.out, settings, "model"); err != nil {
		return err
	}
	return a.Emit(r, r.print)
}

// enough reports runs that are too few to learn from.
func enough(runs []*training.Run, folds int) error {
	tasks := training.Tasks(runs)
	switch {
	case len(runs) < training.MinRuns:
		return &problem.Error{
			Code: "POL-LEARN", What: fmt.Sprintf("%s are too few: %d are needed", app.Count(len(runs), "labelled run"), training.MinRuns),
			Fix: "give more runs; --labels names a field of their extra, or a CSV file, with the turn of the error",
		}
	case tasks < folds:
		return &problem.Error{
			Code: "POL-LEARN", What: fmt.Sprintf("%s of %s cannot be dealt out into %s", app.Count(len(runs), "run"), app.Count(tasks, "task"), app.Count(folds, "fold")),
			Fix: "give runs of more tasks, or fewer --folds",
		}
	}
	return nil
}

// labels tell the turn of the decisive error of a conversation.
type labels func(*transcripts.Conversation) (turn int, ok bool)

// readLabels reads the CSV file with that name, of which each line is the id of a
// conversation and the index of a turn. If there is no such file the name is that of a
// field of extra.
func readLabels(name string) (labels, error) {
	file, err := os.Open(name)
	if err != nil {
		field := strings.TrimPrefix(name, "extra.")
		return func(c *transcripts.Conversation) (int, bool) { return c.Mistake(field) }, nil
	}
	defer file.Close()
	turns := map[string]int{}
	for r := csv.NewReader(file); ; {
		line, err := r.Read()
		if err == io.EOF {
			break
		}
		turn := -1
		if err == nil && len(line) >= 2 {
			turn, err = strconv.Atoi(strings.TrimSpace(line[1]))
		}
		if err != nil || turn < 0 {
			at, _ := r.FieldPos(0)
			return nil, &problem.Error{Code: "POL-LEARN", What: "not the id of a conversation and the index of a turn, from 0", Where: fmt.Sprintf("%s:%d", name, at), Err: err, Fix: "write a line such as run/7,4"}
		}
		turns[line[0]] = turn
	}
	return func(c *transcripts.Conversation) (int, bool) {
		turn, ok := turns[c.ID]
		return turn, ok && turn < len(c.Turns)
	}, nil
}

// read collects the labelled runs.
func (r *guardReport) read(ctx context.Context, src *source.Sources, labels labels) ([]*training.Run, error) {
	var runs []*training.Run
	err := src.Each(ctx, func(o source.Origin) error {
		c, err := source.ConversationOf(o)
		if err != nil {
			return err
		}
		if turn, ok := labels(c); ok {
			runs = append(runs, training.NewRun(c, turn))
			r.Turns += len(c.Turns)
		} else {
			r.Unlabelled++
		}
		return nil
	})
	r.Runs, r.Near = len(runs), training.Relate(runs)
	return runs, err
}

func between(i training.Interval) string { return interval("[%+.1f,%+.1f]", i) }

// interval returns an interval in percent, or nothing for too few runs.
func interval(form string, i training.Interval) string {
	if math.IsNaN(i[0]) {
		return ""
	}
	return fmt.Sprintf(form, 100*i[0], 100*i[1])
}

func (r *guardReport) print(w io.Writer) error {
	from := fmt.Sprintf("learnt from %s with a labelled error, %s", app.Count(r.Runs, "run"), app.Count(r.Turns, "turn"))
	if r.Unlabelled > 0 {
		from += fmt.Sprintf("; %d without a label left out", r.Unlabelled)
	}
	if r.Near > 0 {
		from += fmt.Sprintf("; %d nearly repeat another one", r.Near)
	}
	fmt.Fprintf(w, "%s\n%d folds, dealt %d times; runs of one task are in one fold\n\n", strings.Join(term.Wrap(from, term.Width), "\n"), r.Figures.Folds, r.Figures.Deals)
	if err := r.tables(w); err != nil {
		return err
	}
	if r.File == "" {
		return nil
	}
	name := term.Line(r.File)
	_, err := fmt.Fprintf(w, "\nwrote %s, %d bytes\nnext: moot replay NEW --policy wasteguard@%s\n", name, r.Bytes, name)
	return err
}

// groupWidth is how many characters of the name of a group fit next to its figures.
const groupWidth = 19

// tables prints the figures in tables of at most [term.Width] columns.
func (r *guardReport) tables(w io.Writer) error {
	var groups, found, flagged, early [][]string
	for _, g := range r.Figures.Groups {
		name := term.Shorten(term.Line(g.Name), groupWidth)
		groups = append(groups, []string{name, strconv.Itoa(g.Runs), strconv.Itoa(g.Turns), percent(g.After), percent(g.Flagged)})
		found = append(found, []string{
			name, percent(g.Trivial), percent(g.Guard) + interval(" [%.1f,%.1f]", g.Interval),
			fmt.Sprintf("%+.1f %s", 100*g.Difference, between(g.Between)),
		})
	}
	for _, x := range r.Figures.At {
		flagged = append(flagged, []string{
			percent(x.Flagged), percent(x.Has), percent(x.Saved) + interval(" [%.1f,%.1f]", x.Interval), percent(x.Chance), percent(x.First),
		})
		early = append(early, []string{percent(x.Flagged), fmt.Sprintf("%.2f", x.Early), percent(x.EarlyIn)})
	}
	for i, t := range []struct {
		title   string
		columns []string
		rows    [][]string
	}{
		{"", []string{"", "RUNS", "TURNS", "AFTER THE ERROR", "FLAGGED"}, groups},
		{"errors found at this share of flagged turns\n", []string{"", "TRIVIAL RULE", "WASTEGUARD", "DIFFERENCE"}, found},
		{"", []string{"FLAGGED", "HAS THE ERROR", "SAVED", "BY CHANCE", "BY FIRST FLAG"}, flagged},
		{"", []string{"FLAGGED", "EARLY FLAGS A RUN", "RUNS WITH EARLY FLAGS"}, early},
	} {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprint(w, t.title)
		if err := app.Table(w, t.columns, t.rows); err != nil {
			return err
		}
	}
	return nil
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// checkLabels checks the flags that only one of the policies takes.
func (f *learnFlags) checkLabels(changed func(flag string) bool) string {
	if f.policy == "" && f.labels != "" {
		f.policy = "wasteguard"
	}
	switch f.policy {
	case "", "adaptive":
		if f.labels != "" {
			return "--labels is for --policy wasteguard"
		}
	case "wasteguard":
		if f.labels == "" {
			return "--policy wasteguard needs --labels: a field or a CSV file with the turn of each run's error"
		}
		if changed("threshold") {
			return "--threshold is for the policy adaptive; the setting flag of wasteguard is the share of turns to flag"
		}
		if !changed("out") {
			f.out = "wasteguard.json"
		}
	default:
		return "--policy takes adaptive or wasteguard"
	}
	return ""
}
