package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/problem"
)

// Exit codes. They are frozen: scripts branch on them.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitInput       = 3
	ExitAuth        = 4
	ExitLimit       = 5
	ExitGate        = 6
	ExitPolicy      = 7
	ExitDegraded    = 8
	ExitAgain       = 9
	ExitOver        = 10
	ExitInterrupted = 130
)

// An ending is an exit code with what it means.
type Ending struct {
	Code  int    `json:"code"`
	Means string `json:"means"`
}

// ExitCodes is what `moot help exit-codes` prints.
var ExitCodes = []Ending{
	{ExitOK, "ended as designed: the policy finished, the room settled, a person stopped it"},
	{ExitFailure, "failure: the log, the network, the machine"},
	{ExitUsage, "usage: a wrong flag or argument"},
	{ExitInput, "an input file is invalid: room.yaml, a policy, a transcript"},
	{ExitAuth, "not authorised"},
	{ExitLimit, "a limit or a loop guard ended the room"},
	{ExitGate, "a gate failed: --fail-if of a replay, --max"},
	{ExitPolicy, "a policy failed and the room paused"},
	{ExitDegraded, "the room ended, not as designed: with a seat suspended for its failures, without a turn, or as --fail-if says"},
	{ExitAgain, "await: it is not the turn of the seat yet, ask again"},
	{ExitOver, "await: the room has ended; do not ask again"},
	{ExitInterrupted, "interrupted: the room paused"},
}

// An exitError ends moot with a code of its own. A nil err prints nothing.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// ExitWith returns an error that ends moot with that code. err is printed; it
// may be nil, when everything has been said.
func ExitWith(code int, err error) error { return &exitError{code, err} }

// Usagef reports a wrong command line.
func Usagef(cmd *cobra.Command, format string, args ...any) error {
	return &problem.Error{
		Code: "CLI-USAGE", What: fmt.Sprintf(format, args...),
		Fix: "`" + cmd.CommandPath() + " --help` shows what there is",
	}
}

// Usage turns what cobra says about a command line into a problem.
func (a *App) Usage(root *cobra.Command, args []string, err error) error {
	var coded problem.Coded
	if errors.As(err, &coded) {
		return err
	}
	cmd, _, findErr := root.Find(args)
	if findErr != nil {
		cmd = root
	}
	if given := argCount.FindStringSubmatch(err.Error()); given != nil {
		n, _ := strconv.Atoi(given[1])
		return &problem.Error{
			Code: "CLI-USAGE", What: "`" + cmd.CommandPath() + "` does not take " + Count(n, "argument"),
			Fix: "write `" + cmd.UseLine() + "`; `" + cmd.CommandPath() + " --help` shows more",
		}
	}
	return Usagef(cmd, "%s", err)
}

// argCount matches cobra's words for a wrong number of arguments.
var argCount = regexp.MustCompile(`^(?:accepts|requires) .*arg\(s\), (?:only )?received (\d+)$`)

// ExitCode returns the code that an error ends moot with.
func ExitCode(ctx context.Context, err error) int {
	var exit *exitError
	var coded problem.Coded
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &exit):
		return exit.code
	case errors.Is(context.Cause(ctx), ErrInterrupted):
		return ExitInterrupted
	case errors.As(err, &coded):
		if m, ok := problem.Lookup(coded.ErrorCode()); ok && m.Exit != 0 {
			return m.Exit
		}
	}
	return ExitFailure
}

func FlagProblem(flag, value, fix string) error {
	return &problem.Error{Code: "CLI-USAGE", What: fmt.Sprintf("%s %q is not allowed", flag, value), Fix: fix}
}

// A report is an error as it is printed.
type report struct {
	Code     string          `json:"code,omitempty"`
	What     string          `json:"what"`
	Where    string          `json:"where,omitempty"`
	Fix      string          `json:"fix,omitempty"`
	Problems config.Problems `json:"problems,omitempty"`
}

// ReportOf collects what an error says. The words of those that wrapped it go
// before what happened.
func ReportOf(err error) report {
	var p *problem.Error
	var pe *plugins.Error
	var ps config.Problems
	var coded problem.Coded
	switch {
	case errors.As(err, &ps):
		files := map[string]bool{}
		for _, q := range ps {
			files[q.File] = true
		}
		return report{Code: ps.ErrorCode(), What: Count(ps.Errors(), "problem") + " in " + Count(len(files), "file"), Problems: ps}
	case errors.As(err, &p):
		inner := *p
		inner.Code, inner.Where = "", ""
		what := strings.TrimSuffix(inner.Error(), " []")
		return report{Code: p.Code, What: wrapping(err, p) + what, Where: p.Where, Fix: p.Fix}
	case errors.As(err, &pe):
		return report{Code: pe.Code, What: wrapping(err, pe) + pe.What, Where: pe.Where, Fix: pe.Fix}
	case errors.As(err, &coded):
		r := report{Code: coded.ErrorCode(), What: err.Error()}
		if f, ok := coded.(interface{ Fix() string }); ok {
			r.Fix = f.Fix()
		}
		return r
	case errors.Is(err, context.Canceled): // by a signal: nothing else cancels a command
		return report{What: ErrInterrupted.Error()}
	}
	return report{What: err.Error()}
}

// wrapping returns what was put before the inner error's words.
func wrapping(outer, inner error) string {
	if s, ok := strings.CutSuffix(outer.Error(), inner.Error()); ok {
		return s
	}
	return ""
}

// Count writes a number of things.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// PrintError tells the user, on stderr, what went wrong: as JSON when the
// result would have been JSON.
func (a *App) PrintError(err error, args []string) {
	var exit *exitError
	if errors.As(err, &exit) && exit.err == nil {
		return
	}
	r := ReportOf(err)
	if a.wantsJSON(args) {
		b, jerr := json.Marshal(map[string]report{"error": r})
		if jerr == nil {
			fmt.Fprintf(a.Stderr, "%s\n", b)
			return
		}
	}
	if len(r.Problems) > 0 {
		_ = r.Problems.Print(a.Stderr) // there is nowhere to say so
	}
	fmt.Fprint(a.Stderr, a.text(r))
}

// text is a report for people.
func (a *App) text(r report) string {
	s := a.Paint(a.Stderr, StyleError, "error:") + " " + term.Line(r.What)
	if r.Code != "" {
		s += "   [" + r.Code + "]"
	}
	s += "\n"
	if r.Where != "" {
		s += "  where:  " + term.Line(r.Where) + "\n"
	}
	if r.Fix != "" {
		s += "  fix:    " + term.Line(r.Fix) + "\n"
	}
	return s
}

// wantsJSON also looks at a command line that could not be parsed.
func (a *App) wantsJSON(args []string) bool {
	if a.Flags.output != "" {
		return strings.HasPrefix(a.Flags.output, FormatJSON)
	}
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	joined := " " + strings.Join(args, " ")
	for _, flag := range []string{" -o json", " -ojson", " -o=json", " --output json", " --output=json"} {
		if strings.Contains(joined, flag) {
			return true
		}
	}
	return false
}
