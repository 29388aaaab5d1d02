package replaycmd

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/replay/drive"
	reports "github.com/folkmoot/moot/replay/report"
)

// newReplayShowCmd shows one decision in full.
func newReplayShowCmd(a *commands) *cobra.Command {
	var policies []string
	var conversation string
	cmd := &cobra.Command{
		Use:   "show TRANSCRIPT#N --policy POLICY...",
		Short: "Show one decision in full, with the decisions of other policies",
		Long: "show replays policies up to one decision and prints it: the last messages, the\n" +
			"recorded choice, and the decision of each policy with its reason, its scores and\n" +
			"its log. N counts decisions from 1. In a room of moot it is the number of the\n" +
			"event that holds the decision.",
		Example: "  moot replay show r_01#88 --policy mention\n" +
			"  moot replay show talks.jsonl.gz#12 --conversation talk/7 --policy mention",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			i := strings.LastIndex(args[0], "#")
			n, err := strconv.Atoi(args[0][i+1:])
			if i < 0 || err != nil || n < 1 {
				return app.Usagef(cmd, "name a decision as TRANSCRIPT#N")
			}
			if len(policies) == 0 {
				return app.Usagef(cmd, "replay show takes at least one --policy")
			}
			return a.explain(cmd.Context(), args[0][:i], conversation, n, policies)
		},
	}
	cmd.Flags().StringArrayVar(&policies, "policy", nil, "policy to ask; repeatable")
	a.FuelFlag(cmd)
	app.CompletePolicyFlag(cmd)
	cmd.Flags().StringVar(&conversation, "conversation", "", "conversation to use, in a file with several")
	return cmd
}

func (a *commands) explain(ctx context.Context, name, conversation string, n int, policies []string) error {
	sandbox, err := a.Sandbox()
	if err != nil {
		return err
	}
	defer sandbox.Close()
	replayed, err := a.loadReplayed(ctx, sandbox, policies)
	if err != nil {
		return err
	}
	return source.One(ctx, a.App, name, conversation, func(o source.Origin) error {
		t, err := transcriptOf(o)
		if err != nil {
			return err
		}
		x, err := drive.Explain(ctx, replayed, t, n)
		if errors.Is(err, drive.ErrNoPoint) {
			return app.ExitWith(app.ExitUsage, &problem.Error{
				Code: "REPLAY-POINT", What: "there is no decision " + strconv.Itoa(n), Where: o.Room, Err: err,
				Fix: "decisions count from 1; in a room of moot use the number of the event, see `moot transcript export`",
			})
		}
		if err != nil {
			return err
		}
		return a.Emit(x, func(w io.Writer) error { return reports.WriteExplanation(w, x) })
	})
}

// newReplayDiffCmd compares two reports.
func newReplayDiffCmd(a *commands) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff A.json B.json",
		Short: "Show the differences of two reports",
		Long: "diff compares the policies that two reports of `moot replay -o json` have in\n" +
			"common. Reports without a common figure, such as a what-if and a simulation, are\n" +
			"an error. -o html writes a page with the policies of both reports.",
		Example: "  moot replay talks.jsonl --policy mention -o json > a.json\n  moot replay diff a.json b.json",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			var both [2]*reports.Report
			for i, name := range args {
				r, err := readReport(name)
				if err != nil {
					return err
				}
				both[i] = r
			}
			d := reports.Diff(both[0], both[1])
			write := d.WriteText
			if a.Format == app.FormatHTML {
				write = reports.Combine(both[0], both[1]).WriteHTML
			}
			if err := a.Emit(d, write); err != nil || d.Compared > 0 {
				return err
			}
			return &problem.Error{
				Code: "REPLAY-DIFF", What: "the reports have no figure in common", Where: args[0] + ", " + args[1],
				Fix: "compare reports of the same policies and the same mode: `moot replay TRANSCRIPTS --policy NAME -o json`",
			}
		},
	}
	app.Formats(cmd, app.FormatTable, app.FormatJSON, app.FormatHTML)
	return cmd
}

func readReport(name string) (*reports.Report, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, &problem.Error{Code: "REPLAY-REPORT", What: "the report cannot be read", Where: name, Err: err, Fix: "give a file that `moot replay ... -o json` wrote"}
	}
	defer f.Close()
	return reports.Read(f, name)
}
