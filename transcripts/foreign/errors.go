package foreign

import (
	"fmt"

	"github.com/folkmoot/moot/problem"
)

// readError is the error for a file that cannot be read.
func readError(name string, err error) error {
	return &problem.Error{
		Code: "TRANSCRIPT-READ", What: "the file cannot be read", Where: name, Err: err,
		Fix: "check that it is a file and its permissions",
	}
}

// formatError is the error for a file of unknown format.
func formatError(name, why string) error {
	return &problem.Error{
		Code: "TRANSCRIPT-FORMAT", What: "unknown transcript format: " + why, Where: name,
		Fix: "name the format with --format, one of " + formatNames(),
	}
}

// shapeError is the error for content that violates its format.
func shapeError(where, what string, err error) error {
	return &problem.Error{
		Code: "TRANSCRIPT-SHAPE", What: what, Where: where, Err: err,
		Fix: "export it again with the program that wrote it, or name another format with --format",
	}
}

// sizeError is the error for content over a bound.
func sizeError(where, what string) error {
	return &problem.Error{
		Code: "TRANSCRIPT-SIZE", What: what, Where: where,
		Fix: "import it in parts, or convert it to the neutral format, which is read line by line",
	}
}

// archiveError is the error for a damaged or hostile archive.
func archiveError(where, what string, err error) error {
	return &problem.Error{
		Code: "TRANSCRIPT-ARCHIVE", What: what, Where: where, Err: err,
		Fix: "do not trust this archive; export it again from its source",
	}
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
	return &problem.Error{
		Code: "TRANSCRIPT-EMPTY", What: what, Where: name,
		Fix: "check that it is the right file, or name another format with --format",
	}
}
