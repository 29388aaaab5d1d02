package foreign

import (
	"fmt"

	"github.com/folkmoot/moot/problem"
)

// readError is the error for a file that cannot be read.
func readError(name string, err error) error {
	return newError("TRANSCRIPT-READ", name, "the file cannot be read", "check that it is a file and its permissions", err)
}

// formatError is the error for a file of unknown format.
func formatError(name, why string) error {
	return newError("TRANSCRIPT-FORMAT", name, "unknown transcript format: "+why, "name the format with --format, one of "+formatNames(), nil)
}

// shapeError is the error for content that violates its format.
func shapeError(where, what string, err error) error {
	return newError("TRANSCRIPT-SHAPE", where, what, "export it again with the program that wrote it, or name another format with --format", err)
}

// sizeError is the error for content over a bound.
func sizeError(where, what string) error {
	return newError("TRANSCRIPT-SIZE", where, what, "import it in parts, or convert it to the neutral format, which is read line by line", nil)
}

// archiveError is the error for a damaged or hostile archive.
func archiveError(where, what string, err error) error {
	return newError("TRANSCRIPT-ARCHIVE", where, what, "do not trust this archive; export it again from its source", err)
}

// emptyError is the error for a file without messages.
func emptyError(name string, f Format, r *Report) error {
	what := fmt.Sprintf("no messages, read as %s", f)
	if r != nil {
		what += fmt.Sprintf(": %d pieces", r.Pieces)
		for i, c := range r.Left {
			what += fmt.Sprintf("%s %d %s", map[bool]string{true: ", left out", false: ","}[i == 0], c.N, c.Why)
		}
	}
	return newError("TRANSCRIPT-EMPTY", name, what, "check that it is the right file, or name another format with --format", nil)
}

func newError(code, where, what, fix string, err error) error {
	return &problem.Error{Code: code, Where: where, What: what, Fix: fix, Err: err}
}
