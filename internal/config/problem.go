package config

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/problem"
)

// A Position is a place in a file. Line and Col count from 1, Col in
// characters; both are 0 for the whole file.
type Position struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	Col  int    `json:"col,omitempty"`
}

// String returns file:line:col.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// A Problem is an error or a warning about a file.
type Problem struct {
	Position
	Code    string `json:"code"`
	Warning bool   `json:"warning,omitempty"` // the file can still be used
	Path    string `json:"path,omitempty"`    // such as participants[1].mode
	What    string `json:"what"`
	Hint    string `json:"hint,omitempty"`
	Source  string `json:"source,omitempty"` // the source line as written
}

// Error returns the problem on one line.
func (p Problem) Error() string {
	s := p.String() + ": "
	if p.Path != "" {
		s += p.Path + ": "
	}
	return s + p.What + " [" + p.Code + "]"
}

// ErrorCode returns the stable code.
func (p Problem) ErrorCode() string { return p.Code }

// Problems are all problems of one file and the files that it includes.
type Problems []Problem

// CodeInvalid is the code of [Problems] as a whole.
const CodeInvalid = "ROOM-INVALID"

// Err returns ps as an error, or nil if there are only warnings.
func (ps Problems) Err() error {
	if ps.Errors() == 0 {
		return nil
	}
	return ps
}

// Errors counts the problems that are not warnings.
func (ps Problems) Errors() int {
	n := 0
	for _, p := range ps {
		if !p.Warning {
			n++
		}
	}
	return n
}

// Error says how many problems there are, and the first.
func (ps Problems) Error() string {
	n := ps.Errors()
	i := slices.IndexFunc(ps, func(p Problem) bool { return !p.Warning })
	switch {
	case i < 0:
		return "no problems"
	case n == 1:
		return ps[i].Error()
	}
	return fmt.Sprintf("%d problems, the first: %s", n, ps[i].Error())
}

// ErrorCode returns [CodeInvalid].
func (ps Problems) ErrorCode() string { return CodeInvalid }

// Each returns every problem with its place.
func (ps Problems) Each() []*problem.Error {
	all := make([]*problem.Error, len(ps))
	for i, p := range ps {
		all[i] = &problem.Error{Code: p.Code, What: p.What, Where: p.String(), Fix: p.Hint}
		if p.Path != "" {
			all[i].What = p.Path + ": " + p.What
		}
	}
	return all
}

// Print writes every problem with its source line and a caret.
func (ps Problems) Print(w io.Writer) error {
	for _, p := range ps {
		if err := p.print(w); err != nil {
			return err
		}
	}
	return nil
}

func (p Problem) print(w io.Writer) error {
	kind := "error"
	if p.Warning {
		kind = "warning"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: ", p.Position, kind)
	if p.Path != "" {
		fmt.Fprintf(&b, "%s: ", term.Line(p.Path))
	}
	fmt.Fprintf(&b, "%s   [%s]\n", term.Line(p.What), p.Code)
	if p.Source != "" && p.Line > 0 {
		line, col := cutLine(p.Source, p.Col)
		fmt.Fprintf(&b, "  %4d | %s\n       | %s^\n", p.Line, line, strings.Repeat(" ", col-1))
	}
	if p.Hint != "" {
		fmt.Fprintf(&b, "  hint: %s\n", term.Line(p.Hint))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// excerptWidth is how many characters of a long line are shown.
const excerptWidth = 100

// cutLine cuts a line around column col, counted in characters, and removes
// control characters. It returns the new column too.
func cutLine(line string, col int) (string, int) {
	before, after := []rune(line), []rune(nil)
	if col-1 <= len(before) && col > 0 {
		before, after = before[:col-1], before[col-1:]
	}
	if n := excerptWidth / 2; len(before) > n+3 {
		before = append([]rune("..."), before[len(before)-n:]...)
	}
	if n := excerptWidth - len(before); len(after) > n+3 {
		after = append(slices.Clone(after[:n]), '.', '.', '.')
	}
	left := term.Line(string(before))
	return left + term.Line(string(after)), len([]rune(left)) + 1
}
