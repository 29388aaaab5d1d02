package source

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/folkmoot/moot/problem"
)

// TestTwice checks that stdin is the same at the second reading, wherever the first one
// ended, that no file of it is left, and that nothing is kept without a -.
func TestTwice(t *testing.T) {
	text := strings.Repeat("a line of stdin\n", 5000)
	for _, n := range []int64{0, 1, 17, 40_000, int64(len(text))} {
		t.Setenv("TMPDIR", t.TempDir())
		s := &Sources{Args: []string{"a.jsonl", "-"}, stdin: iotest.HalfReader(strings.NewReader(text))}
		if err := s.Twice(func() error { _, err := io.CopyN(io.Discard, s.stdin, n); return err }); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(s.stdin)
		if err != nil || string(got) != text {
			t.Errorf("after %d bytes: %d bytes, want %d, %v", n, len(got), len(text), err)
		}
		s.Close()
		if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
	in := strings.NewReader(text)
	for _, s := range []*Sources{{Args: []string{"a.jsonl"}, stdin: in}, {Args: []string{"-"}}} {
		if err := s.Twice(func() error { return errors.ErrUnsupported }); !errors.Is(err, errors.ErrUnsupported) || s.kept != nil {
			t.Errorf("%v, %v", s.kept, err)
		}
	}
}

// TestTwiceFails checks that a disk without space is reported as that.
func TestTwiceFails(t *testing.T) {
	var p *problem.Error
	s := &Sources{Args: []string{"-"}, stdin: strings.NewReader("text")}
	err := s.Twice(func() error {
		_ = s.kept.file.Close()
		_, err := io.ReadAll(s.stdin)
		return err
	})
	if !errors.As(err, &p) || p.What != "stdin cannot be kept in a temporary file" {
		t.Error(err)
	}
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	t.Setenv("TMP", t.TempDir()+"/none")
	s = &Sources{Args: []string{"-"}, stdin: strings.NewReader("text")}
	if err := s.Twice(func() error { return nil }); !errors.As(err, &p) {
		t.Error(err)
	}
	s.Close()
}
