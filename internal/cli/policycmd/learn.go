package policycmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/policies/adaptive/training"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/score"
)

// learnFlags are those of `moot policy learn`.
type learnFlags struct {
	source.Reading
	out       string
	folds     int
	threshold float64
	policy    string // "" is adaptive, or wasteguard with labels
	labels    string // a field or a file; wasteguard only
	force     bool
}

// newPolicyLearnCmd teaches the policy adaptive a team's past, or wasteguard from errors.
func newPolicyLearnCmd(a *commands) *cobra.Command {
	var f learnFlags
	cmd := &cobra.Command{
		Use:   "learn TRANSCRIPT...",
		Short: "Teach the policy adaptive or wasteguard from past transcripts",
		Long: "learn weighs who followed whom in past talks of a team, and what was said before\n" +
			"whom, and writes settings for the policy adaptive that hold these weights. Talks\n" +
			"that nearly repeat an earlier one are named and left out, because they would\n" +
			"teach that the past comes again to the letter.\n\n" +
			"A TRANSCRIPT is a room of the data folder or a file, as for `moot replay`. What\n" +
			"is learnt is about these participants, by their ids; it holds no text. From recorded\n" +
			"decisions to speak or to be silent it also learns when an agent among people speaks.\n\n" +
			"The talks are dealt out into five parts or --folds, and each is foreseen after\n" +
			"learning from the others: what to expect of a talk that is to come. No settings\n" +
			"are written if the interval of the difference to the untaught policy is not\n" +
			"above 0, or if there are fewer than six talks, except with --force. When an agent\n" +
			"speaks is judged by itself, so settings may hold either part alone.\n\n" +
			"With --labels it teaches the policy wasteguard instead, from runs whose decisive\n" +
			"error is labelled: a field of extra, or a CSV file of ids of conversations, with\n" +
			"the index of a turn. It prints what the policy finds in runs that it has not\n" +
			"learnt from, in 5 folds or --folds, and writes no settings if the interval of\n" +
			"the difference to a trivial rule touches 0, except with --force.",
		Example: "  moot policy learn runs/*.jsonl --out team.json\n" +
			"  moot policy learn runs/*.jsonl --folds 5\n" +
			"  moot replay new.jsonl --policy adaptive --policy adaptive@team.json\n" +
			"  moot policy learn failed.jsonl --labels mistake_step --out wasteguard.json",
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: source.CompleteRooms(a.App),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.folds == 1 || f.folds < 0 || f.threshold < 0 || f.threshold > 1 {
				return app.Usagef(cmd, "--folds takes 2 or more, --threshold a number from 0 to 1")
			}
			if wrong := f.checkLabels(cmd.Flags().Changed); wrong != "" {
				return app.Usagef(cmd, "%s", wrong)
			}
			src, err := f.Sources(a.App, cmd, args)
			if err != nil {
				return err
			}
			if f.labels != "" {
				return a.learnLabels(cmd.Context(), src, f)
			}
			if f.folds > 0 && !cmd.Flags().Changed("out") {
				f.out = ""
			}
			return a.learn(cmd.Context(), src, f)
		},
	}
	f.Add(cmd)
	cmd.Flags().StringVar(&f.out, "out", "team.json", "file for the settings, or - for stdout; with --folds none unless it is given")
	cmd.Flags().IntVar(&f.folds, "folds", 0, "measure what learning is worth, in so many parts")
	cmd.Flags().Float64Var(&f.threshold, "threshold", 0, "the probability that a choice needs, as part of the settings")
	cmd.Flags().StringVar(&f.policy, "policy", "", "the policy to teach, adaptive or wasteguard (default adaptive, with --labels wasteguard)")
	_ = cmd.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions([]string{"adaptive", "wasteguard"}, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	cmd.Flags().StringVar(&f.labels, "labels", "", "field of extra, or CSV file, with the turn of each run's decisive error")
	cmd.Flags().BoolVar(&f.force, "force", false, "write the settings although the transcripts do not show that they help")
	return cmd
}

// A learnReport is the result of `moot policy learn`.
type learnReport struct {
	Talks     int             `json:"talks"`
	Decisions int             `json:"decisions"`
	TooShort  int             `json:"too_short"` // fewer than three participants or two turns
	Near      []training.Near `json:"near"`      // left out
	File      string          `json:"file,omitempty"`
	Bytes     int             `json:"bytes,omitempty"`    // of the settings
	LeftOut   []string        `json:"left_out,omitempty"` // keys of settings that the talks do not show to help
	Folds     int             `json:"folds,omitempty"`
	Untaught  *foresight      `json:"untaught,omitempty"` // with folds: without learning from other talks
	Taught    *foresight      `json:"taught,omitempty"`

	Difference *learnDifference  `json:"difference,omitempty"` // taught minus untaught
	Silence    *training.Silence `json:"silence,omitempty"`    // with recorded decisions

	SilenceDifference *learnDifference `json:"silence_difference,omitempty"` // of the balanced accuracy, taught minus untaught
}

// A foresight is how well talks were foreseen. Shares are from 0 to 1.
type foresight struct {
	Accuracy float64         `json:"accuracy"`
	Interval [2]score.Figure `json:"interval"` // null under six talks
	MRR      float64         `json:"mrr"`
	Surest   [3]float64      `json:"surest_25_50_75"` // right when it answers the surest quarter, half, three quarters
	ECE      float64         `json:"ece"`
}

func (a *commands) learn(ctx context.Context, src *source.Sources, f learnFlags) error {
	defer src.Close()
	r := learnReport{Near: []training.Near{}}
	talks, err := r.read(ctx, src)
	if err != nil {
		return err
	}
	if r.Folds, err = f.foldsOf(len(talks)); err != nil {
		return err
	}
	if r.Folds > 0 {
		p := a.Percent("folds")
		measured, err := training.Measure(ctx, talks, r.Folds, p.Part)
		p.End()
		if err != nil {
			return err
		}
		r.Untaught, r.Taught, r.Difference = foresightOf(&measured.Policies[0]), foresightOf(&measured.Policies[1]), differenceIn(measured)
	}
	var out lessons
	if out.head, err = r.judgeSilence(talks, f.force); err != nil {
		return err
	}
	withTeam := f.force || r.Difference.shown()
	if f.out != "" && !withTeam && out.head == nil {
		return cmp.Or(a.Emit(r, r.print), r.refusal())
	}
	var settings []byte
	if f.out != "" {
		if withTeam {
			if out.team, err = training.Learn(talks); err != nil {
				return err
			}
		}
		settings, r.LeftOut = out.settings(f.threshold), out.leftOut(&r)
		r.File, r.Bytes = f.out, len(settings)
		if f.out == "-" {
			_, err := a.Stdout.Write(settings)
			return err
		}
		if err := writeNew(f.out, settings, "team", "silence_head"); err != nil {
			return err
		}
	}
	return a.Emit(r, r.print)
}

// read collects the talks that differ.
func (r *learnReport) read(ctx context.Context, src *source.Sources) ([]*history.Conversation, error) {
	var all []*history.Conversation
	err := src.Each(ctx, func(o source.Origin) error {
		c, err := source.ConversationOf(o)
		if err != nil {
			return err
		}
		if t := source.Replayed(c); training.Decisions(t) > 0 {
			all = append(all, t)
		} else {
			r.TooShort++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	distinct, near := training.Distinct(all)
	if len(distinct) == 0 {
		return nil, &problem.Error{
			Code: "POL-LEARN", What: "there is nothing to learn from: no transcript has three participants and two turns",
			Fix: "give rooms or files in which a team talked",
		}
	}
	r.Near = append(r.Near, near...)
	r.Talks = len(distinct)
	for _, t := range distinct {
		r.Decisions += training.Decisions(t)
	}
	return distinct, nil
}

func foresightOf(r *score.Result) *foresight {
	return &foresight{
		Accuracy: float64(r.Accuracy), Interval: r.Intervals["accuracy"], MRR: float64(r.MRR), ECE: float64(r.Risk.ECE),
		Surest: [3]float64{float64(r.Risk.At(25)), float64(r.Risk.At(50)), float64(r.Risk.At(75))},
	}
}

// evenOdds is the threshold of a learned head: both kinds of decisions weigh the same in
// its training.
const evenOdds = 0.5

// settings is what the policy adaptive is configured with.
func (l *lessons) settings(threshold float64) policy.JSON {
	w := policy.Writer{}
	w.Object()
	if threshold > 0 {
		w.Key("threshold")
		w.Float(threshold)
	}
	if l.head != nil {
		w.Key("silence")
		w.Float(evenOdds)
		w.Key("silence_head")
		w.Array()
		for _, f := range l.head {
			w.Float(f)
		}
		w.EndArray()
	}
	if l.team != nil {
		w.Key("team")
		w.Raw(l.team.AppendJSON(nil))
	}
	w.EndObject()
	return append(w.Bytes(), '\n')
}

// writeNew writes a file that settings are read from. One that holds other
// than settings with one of these keys is left alone.
func writeNew(path string, settings []byte, keys ...string) error {
	if old, err := os.ReadFile(path); err == nil {
		var have map[string]json.RawMessage
		if json.Unmarshal(old, &have) != nil || !slices.ContainsFunc(keys, func(key string) bool { return have[key] != nil }) {
			return &problem.Error{Code: "POL-LEARN", What: "the file is there and holds something else", Where: path, Fix: "choose another with --out"}
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("looking at %s: %w", path, err)
	}
	if err := os.WriteFile(path, settings, 0o644); err != nil {
		return &problem.Error{Code: "POL-LEARN", What: "the settings cannot be written", Where: path, Err: err, Fix: "choose another file with --out"}
	}
	return nil
}

func (r *learnReport) print(w io.Writer) error {
	fmt.Fprintf(w, "learnt from %s, %s", app.Count(r.Talks, "talk"), app.Count(r.Decisions, "decision"))
	if r.TooShort > 0 {
		fmt.Fprintf(w, "; %d too short", r.TooShort)
	}
	fmt.Fprintln(w)
	for _, n := range r.Near {
		fmt.Fprintf(w, "left out %s: nearly %s, %.0f %% alike\n", term.Line(n.Talk), term.Line(n.Like), 100*n.Alike)
	}
	if r.Taught != nil {
		if err := r.printFolds(w); err != nil {
			return err
		}
	}
	r.printSilence(w)
	if r.File == "" {
		return nil
	}
	for _, key := range r.LeftOut {
		fmt.Fprintf(w, "without %s: it may not help, and --force writes it too\n", key)
	}
	name := filepath.ToSlash(r.File)
	_, err := fmt.Fprintf(w, "wrote %s, %d bytes\nnext: moot replay NEW --policy adaptive --policy adaptive@%s\n", term.Line(name), r.Bytes, term.Line(name))
	return err
}

func (r *learnReport) printFolds(w io.Writer) error {
	row := func(name string, f *foresight) []string {
		return []string{
			name, f.right(), fmt.Sprintf("%.3f", f.MRR),
			fmt.Sprintf("%.1f %%", 100*f.Surest[0]), fmt.Sprintf("%.1f %%", 100*f.Surest[1]), fmt.Sprintf("%.1f %%", 100*f.Surest[2]),
			fmt.Sprintf("%.1f", 100*f.ECE),
		}
	}
	err := app.Table(w, []string{"", "RIGHT", "MRR", "SUREST 25 %", "50 %", "75 %", "ECE"}, [][]string{
		row("untaught", r.Untaught), row(fmt.Sprintf("taught, %d folds", r.Folds), r.Taught),
	})
	fmt.Fprintf(w, "taught minus untaught: %s\n", r.Difference.text())
	return err
}

// right is the accuracy with its interval.
func (f *foresight) right() string {
	s := fmt.Sprintf("%.1f %%", 100*f.Accuracy)
	if f.Interval[0].IsNone() {
		return s
	}
	return s + fmt.Sprintf(" [%.1f,%.1f]", 100*float64(f.Interval[0]), 100*float64(f.Interval[1]))
}
