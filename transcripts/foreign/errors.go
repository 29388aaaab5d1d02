package foreign

import (
	"fmt"

	"github.com/folkmoot/moot/problem"
)

// unread is the problem with a file that the machine does not hand over.
func unread(name string, err error) error {
	return &problem.Error{
		Code: "TRANSCRIPT-READ", What: "the file cannot be read", Where: name, Err: err,
		Fix: "check that it is a file and its permissions",
	}
}

// unknown is the problem with a file of no form that is read.
func unknown(name, why string) error {
	return &problem.Error{
		Code: "TRANSCRIPT-FORMAT", What: "the file has no form of transcripts that is known: " + why, Where: name,
		Fix: "read it as what it is with --format, one of " + names(),
	}
}

// misshapen is the problem with something that is not as its form promises.
func misshapen(where, what string, err error) error {
	return &problem.Error{
		Code: "TRANSCRIPT-SHAPE", What: what, Where: where, Err: err,
		Fix: "export it again with the program that wrote it; if the file is of another form, name that with --format",
	}
}

// oversized is the problem with what is over a bound.
func oversized(where, what string) error {
	return &problem.Error{
		Code: "TRANSCRIPT-SIZE", What: what, Where: where,
		Fix: "import it in parts, or convert it to the neutral form, which is read line by line",
	}
}

// damaged is the problem with an archive.
func damaged(where, what string, err error) error {
	return &problem.Error{
		Code: "TRANSCRIPT-ARCHIVE", What: what, Where: where, Err: err,
		Fix: "do not trust this archive; export it again from its source",
	}
}

// silent is the problem with a file in which nothing is said.
func silent(name string, f Format, r *Report) error {
	what := fmt.Sprintf("nothing is said in it, read as %s", f)
	if r != nil {
		what += fmt.Sprintf(": %d pieces", r.Pieces)
		for i, c := range r.Left {
			what += fmt.Sprintf("%s %d %s", map[bool]string{true: ", left out", false: ","}[i == 0], c.N, c.Why)
		}
	}
	return &problem.Error{
		Code: "TRANSCRIPT-EMPTY", What: what, Where: name,
		Fix: "check that it is the right file; --format reads it as another form",
	}
}
