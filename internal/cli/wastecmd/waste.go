// Package wastecmd holds the command `moot waste`.
package wastecmd

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/internal/condition"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/waste"
	"github.com/folkmoot/moot/waste/page"
)

// commands are the commands of this package.
type commands struct{ *app.App }

type options struct {
	failIf []string
	html   string
	policy string
	labels waste.Labels
	from   source.Reading
}

// Command returns the command waste, which counts the tokens of transcripts that did
// not help.
func Command(of *app.App) *cobra.Command {
	a := &commands{of}
	var o options
	cmd := &cobra.Command{
		Use:   "waste TRACE...",
		Short: "Count the tokens of transcripts that were wasted",
		Long: "waste reads transcripts and counts the tokens that did not help, by kind: turns\n" +
			"after a labelled error, loops, exact and near duplicates, pure acknowledgements,\n" +
			"and context that is sent again. It needs no room and no settings, sends nothing\n" +
			"and starts nothing.\n\n" +
			"A TRACE is a room of the data folder, a file that `moot transcript export` wrote,\n" +
			"or a file with conversations of another program or in the neutral format, see\n" +
			"`moot transcript import --help`. Files may be compressed with gzip.\n\n" +
			"Tokens are the usage that the source states. Where it states none they are\n" +
			"bytes/4, and marked ~. The figures of --fail-if are shares of the tokens:\n" +
			"waste and each kind, such as near_duplicates; resent_context is a share of the\n" +
			"tokens of prompts.",
		Example: "  moot waste session.jsonl\n" +
			"  moot waste runs.jsonl.gz --html waste.html\n" +
			"  moot waste runs.jsonl.gz --fail-if 'waste > 20%' -o json\n" +
			"  moot waste runs.jsonl --mistake error_turn --outcome solved",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: source.CompleteRooms(of),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.waste(cmd, args, o) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.failIf, "fail-if", nil, "exit with 6 if FIGURE OP NUMBER holds, such as 'waste > 20%'; repeatable")
	f.StringVar(&o.html, "html", "", "also write the report as one HTML file")
	f.StringVar(&o.labels.Mistake, "mistake", "", "field of a conversation's extra with the index of the turn of the decisive error (default mistake_step)")
	f.StringVar(&o.labels.Outcome, "outcome", "", "field of a conversation's extra that says whether it succeeded (default outcome, success or is_correct)")
	f.StringVar(&o.policy, "policy", "wasteguard", "count what wasteguard, wasteguard@FILE or wasteguard{SETTINGS} would have ended; none counts nothing")
	o.from.Add(cmd)
	app.Formats(cmd, app.FormatTable, app.FormatJSON, app.FormatMD, app.FormatHTML)
	return cmd
}

func (a *commands) waste(cmd *cobra.Command, args []string, o options) error {
	if len(args) == 0 {
		return app.Usagef(cmd, "waste takes rooms or files of transcripts")
	}
	var conditions []condition.Condition
	for _, text := range o.failIf {
		c, err := waste.ParseCondition(text)
		if err != nil {
			return app.ExitWith(app.ExitUsage, err)
		}
		conditions = append(conditions, c)
	}
	src, err := o.from.Sources(a.App, cmd, args)
	if err != nil {
		return err
	}
	defer src.Close()
	account := &waste.Account{}
	if err := guard(cmd, account, o.policy); err != nil {
		return err
	}
	interrupted := a.count(cmd.Context(), src, o.labels, account)
	if interrupted != nil && cmd.Context().Err() == nil {
		return interrupted
	}
	r := account.Report()
	if r.Partial = interrupted != nil; r.Partial {
		conditions = nil
	}
	return errors.Join(a.show(r, r.Judge(conditions), o.html), interrupted)
}

// count counts the transcripts until the first error or the end of ctx.
func (a *commands) count(ctx context.Context, src *source.Sources, labels waste.Labels, account *waste.Account) error {
	progress := a.Progress("turns")
	defer progress.End()
	account.Step = func() error {
		progress.Add(1)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	}
	return src.Each(ctx, func(o source.Origin) error {
		if o.Talk != nil {
			return account.AddConversation(labels.Run(o.Talk, o.File), o.Talk)
		}
		return account.AddRoom(waste.Run{Name: o.Room, File: o.File, Mistake: waste.NoTurn}, source.EventsIn(o.Entries))
	})
}

// show writes the report. passed says whether no condition holds.
func (a *commands) show(r *waste.Report, passed bool, html string) error {
	if html != "" {
		if err := writePage(html, r); err != nil {
			return err
		}
	}
	write := map[string]func(io.Writer, *waste.Report) error{app.FormatHTML: page.WriteHTML, app.FormatMD: page.WriteMarkdown}[a.Format]
	if write == nil {
		write = page.WriteText
	}
	if err := a.Emit(r, func(w io.Writer) error { return write(w, r) }); err != nil || passed {
		return err
	}
	var failed []string
	for _, g := range r.Gates {
		if !g.Passed {
			failed = append(failed, g.Gate)
		}
	}
	return app.ExitWith(app.ExitGate, &problem.Error{
		Code: "WASTE-GATE-FAILED", What: app.Count(len(failed), "gate") + " failed: " + strings.Join(failed, "; "),
		Fix: "check the figures of the report, or change the condition",
	})
}

// writePage writes the HTML page to a file.
func writePage(name string, r *waste.Report) error {
	f, err := os.Create(name)
	if err == nil {
		err = errors.Join(page.WriteHTML(f, r), f.Close())
	}
	if err != nil {
		return &problem.Error{Code: "WASTE-PAGE", What: "the page cannot be written", Where: name, Err: err, Fix: "choose a file that can be written"}
	}
	return nil
}
