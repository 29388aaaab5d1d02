package source

import (
	"cmp"
	"io"
	"os"
	"slices"

	"github.com/folkmoot/moot/problem"
)

// A keptInput is a reader, such as stdin, whose beginning can be read again: what is read
// is also written to a temporary file.
type keptInput struct {
	io.Reader
	from io.Reader
	file *os.File
	err  error // of writing
}

// keep returns a reader of r that keeps what it reads.
func keep(r io.Reader) (*keptInput, error) {
	f, err := os.CreateTemp("", "moot-stdin-*") // only this user may read it
	if err != nil {
		return nil, notKept(err)
	}
	_ = os.Remove(f.Name()) // a process that is killed leaves nothing; Windows removes it in close
	k := &keptInput{from: r, file: f}
	k.Reader = io.TeeReader(r, k)
	return k, nil
}

// Write implements [io.Writer] for what is kept.
func (k *keptInput) Write(b []byte) (int, error) {
	n, err := k.file.Write(b)
	k.err = cmp.Or(k.err, err)
	return n, err
}

// again returns a reader of what was kept, and then of the rest.
func (k *keptInput) again() (io.Reader, error) {
	if _, err := k.file.Seek(0, io.SeekStart); err != nil {
		return nil, notKept(err)
	}
	return io.MultiReader(k.file, k.from), nil
}

func (k *keptInput) close() {
	_ = k.file.Close()
	_ = os.Remove(k.file.Name())
}

func notKept(err error) error {
	return &problem.Error{
		Code: "TRANSCRIPT-READ", What: "stdin cannot be kept in a temporary file", Where: os.TempDir(), Err: err,
		Fix: "write stdin to a file and name that, or set TMPDIR to a folder with more space",
	}
}

// Twice calls first, which may read transcripts, so that they can be read once more
// after it. Of stdin it keeps what first reads.
func (s *Sources) Twice(first func() error) error {
	if s.stdin == nil || !slices.Contains(s.Args, "-") {
		return first()
	}
	k, err := keep(s.stdin)
	if err != nil {
		return err
	}
	s.kept, s.stdin = k, k
	err = first()
	if k.err != nil {
		return notKept(k.err)
	}
	if err == nil {
		s.stdin, err = k.again()
	}
	return err
}
