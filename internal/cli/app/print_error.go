package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/problem"
)

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
