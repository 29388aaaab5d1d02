// Package replaycmd holds the commands below `moot replay`: what policies would
// have decided, over rooms and transcripts.
package replaycmd

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	reports "github.com/folkmoot/moot/replay/report"
)

// commands are the commands of this package.
type commands struct{ *app.App }

// Command returns the command replay, which runs policies over recorded rooms
// and conversations.
func Command(of *app.App) *cobra.Command {
	a := &commands{of}
	var o replayOptions
	cmd := &cobra.Command{
		Use:   "replay TRANSCRIPT... --policy POLICY...",
		Short: "Compare the decisions of policies with recorded ones",
		Long: "replay gives each policy the true history before every decision of a transcript.\n" +
			"It reports how often the policy picks the speaker who actually spoke, whom it\n" +
			"would have picked instead, when it would have declined, and what its choices\n" +
			"cost. It sends nothing and starts nothing.\n\n" +
			"A TRANSCRIPT is a room of the data folder, a file that `moot transcript export`\n" +
			"wrote, or a file with conversations of another program or in the neutral format,\n" +
			"see `moot transcript import --help`. Files may be compressed with gzip.\n" +
			"A POLICY is the name of a built-in or installed policy, its folder or its .wasm\n" +
			"file. Settings in JSON may follow the name. baseline:NAME is one of the\n" +
			"baselines: " + strings.Join(drive.BaselineNames(), ", ") + ".\n\n" +
			"--simulate lets each policy run the recorded agents instead: a chosen agent\n" +
			"posts its next recorded line, and passes when none is left.",
		Example: "  moot replay r_01 --policy mention\n" +
			"  moot replay talks.jsonl.gz --policy roundrobin --policy 'mention{\"fallback\":\"roundrobin\"}'\n" +
			"  moot replay talks.jsonl.gz --policy mention --fail-if 'accuracy < 40%' -o json\n" +
			"  moot replay talks.jsonl.gz --policy adaptive --policy 'baseline:address->ngram3' --html report.html\n" +
			"  moot replay r_01 --simulate --policy quiet\n" +
			"  moot replay r_01 --check",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return a.replay(cmd, args, o) },
	}
	cmd.AddCommand(newReplayShowCmd(a), newReplayDiffCmd(a))
	f := cmd.Flags()
	f.StringArrayVar(&o.policies, "policy", nil, "policy to replay; repeatable, the others are compared with the first")
	f.StringArrayVar(&o.failIf, "fail-if", nil, "exit with 6 if [POLICY.]FIGURE OP NUMBER holds; repeatable")
	f.IntVar(&o.repeat, "repeat", 8, "repeat every Nth decision and compare the bytes; 1 repeats all")
	f.IntVar(&o.sample, "sample", 0, "ask at so many decisions only, drawn evenly from all transcripts; reads the transcripts twice")
	f.StringVar(&o.outcome, "outcome", "", "field of the transcripts that says what they achieved, such as is_correct, completed or 'rating >= 4'")
	f.StringVar(&o.ratings, "ratings", "", "file with fields of the transcripts: CSV or JSON lines, with a column transcript")
	f.BoolVar(&o.simulate, "simulate", false, "let each policy run the recorded agents from the start, instead of asking what it would have done")
	f.StringVar(&o.html, "html", "", "also write the report as one HTML file")
	f.BoolVar(&o.check, "check", false, "check that the policies that ran decide as recorded, with the same bytes and the same fuel")
	o.from.Add(cmd)
	a.FuelFlag(cmd)
	app.CompletePolicyFlag(cmd)
	app.Formats(cmd, app.FormatTable, app.FormatJSON, app.FormatMD, app.FormatHTML, formatJUnit, formatSARIF)
	return cmd
}

// Forms of the report for continuous integration systems.
const (
	formatJUnit = "junit"
	formatSARIF = "sarif"
)

type replayOptions struct {
	policies, failIf []string
	html             string
	outcome, ratings string
	from             source.Reading
	repeat, sample   int
	check, simulate  bool
}

func (a *commands) replay(cmd *cobra.Command, args []string, o replayOptions) error {
	switch {
	case len(args) == 0:
		return app.Usagef(cmd, "replay takes rooms or files of transcripts")
	case len(o.policies) == 0 && !o.check:
		return app.Usagef(cmd, "replay takes at least one --policy, or --check")
	case o.sample < 0:
		return app.Usagef(cmd, "--sample takes a number of decisions")
	case o.sample > 0 && (o.simulate || o.check):
		return app.Usagef(cmd, "--sample does not go with --simulate or --check, which need all decisions")
	case (o.outcome != "" || o.ratings != "") && (o.simulate || o.check):
		return app.Usagef(cmd, "--outcome and --ratings need a what-if, without --simulate and --check")
	case o.sample > 0 && slices.Contains(args, "-"):
		return app.Usagef(cmd, "--sample reads the transcripts twice: write stdin to a file")
	}
	sandbox, err := a.Sandbox()
	if err != nil {
		return err
	}
	defer sandbox.Close()
	src, err := o.from.Sources(a.App, cmd, args)
	if err != nil {
		return err
	}
	defer src.Close()
	if o.check {
		return a.check(cmd.Context(), sandbox, src)
	}
	var conditions []reports.Condition
	for _, text := range o.failIf {
		c, err := reports.ParseCondition(text, o.policies)
		if err != nil {
			return app.ExitWith(app.ExitUsage, err)
		}
		conditions = append(conditions, c)
	}
	outcome, rated, err := o.outcomes()
	if err == nil && outcome != nil {
		err = src.Twice(func() error { return rated.find(cmd.Context(), outcome.Name, src) })
	}
	if err != nil {
		return err
	}
	policies, err := a.loadReplayed(cmd.Context(), sandbox, o.policies)
	if err != nil {
		return err
	}
	c := replay.Config{Outcome: outcome, Policies: policies, Repeat: o.repeat, Simulate: o.simulate, Sample: o.sample, Partial: true}
	return a.runReplay(cmd.Context(), c, src, rated, conditions, o.html)
}

// heapLimit is the size of the heap, in bytes, up to which a replay collects garbage
// rarely.
const heapLimit = 256 << 20

func (a *commands) runReplay(ctx context.Context, c replay.Config, src *source.Sources, rated *ratings, conditions []reports.Condition, page string) error {
	if os.Getenv("GOGC") == "" { // a larger heap and fewer collections are 10 to 20 % faster here
		defer debug.SetGCPercent(debug.SetGCPercent(400))
		if os.Getenv("GOMEMLIMIT") == "" { // but not beyond this, while less is in use
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(heapLimit))
		}
	}
	progress := a.Progress("decisions")
	if progress.Shown() {
		c.Read = src.Share
		c.Progress = func(p replay.Progress) { progress.Reach(p.Made, p.Total) }
	}
	r, interrupted := replay.Run(ctx, c, replayable(ctx, src, rated))
	progress.End()
	if r == nil {
		return interrupted
	}
	if err := checkOutcome(c.Outcome, r); err != nil {
		return err
	}
	if n := rated.lost(); n > 0 {
		a.Note("%s of another transcript", app.Count(n, "rating"))
	}
	passed := r.Judge(conditions)
	if page != "" {
		if err := writePage(page, r); err != nil {
			return err
		}
	}
	if err := a.Emit(r, a.reportWriter(r, src.Files())); err != nil || interrupted != nil || passed {
		return cmp.Or(err, interrupted)
	}
	var failed []string
	for _, g := range r.Gates {
		if !g.Passed {
			failed = append(failed, g.Policy+": "+g.Gate)
		}
	}
	return app.ExitWith(app.ExitGate, &problem.Error{
		Code: "REPLAY-GATE-FAILED", What: app.Count(len(failed), "gate") + " failed: " + strings.Join(failed, "; "),
		Fix: "check the figures of the report, or change the condition",
	})
}

// reportWriter returns the writer of the chosen format.
func (a *commands) reportWriter(r *reports.Report, files []string) func(io.Writer) error {
	switch a.Format {
	case formatJUnit:
		return r.WriteJUnit
	case formatSARIF:
		return func(w io.Writer) error { return r.WriteSARIF(w, catalog.Version(), files) }
	case app.FormatHTML:
		return r.WriteHTML
	case app.FormatMD:
		return r.WriteMarkdown
	}
	return func(w io.Writer) error { return r.WriteText(w, a.Colours(a.Stdout)) }
}

// writePage writes the HTML report to a file.
func writePage(name string, r *reports.Report) error {
	f, err := os.Create(name)
	if err == nil {
		err = errors.Join(r.WriteHTML(f), f.Close())
	}
	if err != nil {
		return &problem.Error{Code: "REPLAY-PAGE", What: "the page cannot be written", Where: name, Err: err, Fix: "choose a file that can be written"}
	}
	return nil
}
