package wastecmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/cli/app"
)

// TestInterrupted checks that a count ends when the user presses Ctrl-C,
// and the report so far is printed without gates.
func TestInterrupted(t *testing.T) {
	var out bytes.Buffer
	a := &app.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard, Format: app.FormatTable}
	a.Settings.Data = t.TempDir()
	file := filepath.Join(t.TempDir(), "runs.jsonl")
	run := `{"id":"x/1","participants":[{"id":"a","kind":"agent"}],"turns":[{"i":0,"speaker":"a","text":"one"}]}` + "\n"
	if err := os.WriteFile(file, []byte(strings.Repeat(run, 3)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cmd := Command(a)
	cmd.SetContext(ctx)
	cancel(app.ErrInterrupted)
	err := (&commands{a}).waste(cmd, []string{file}, options{policy: "none", failIf: []string{"waste > 0"}})
	if !errors.Is(err, app.ErrInterrupted) || app.ExitCode(ctx, err) != app.ExitInterrupted {
		t.Errorf("%v, exit %d", err, app.ExitCode(ctx, err))
	}
	if !strings.HasPrefix(out.String(), "interrupted: ") || strings.Contains(out.String(), "gate") {
		t.Error(out.String())
	}
}
