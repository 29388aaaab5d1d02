package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/cli/app"
)

// TestImportSlackSample imports an export that Slack wrote.
func TestImportSlackSample(t *testing.T) {
	file := filepath.Join("..", "..", "..", "shared", "transcripts", "format-samples", "slack-export.zip")
	if _, err := os.Stat(file); err != nil {
		t.Skip("the shared samples of foreign formats are not on this machine")
	}
	var out, errs bytes.Buffer
	a := &app.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
	if code := run(a, []string{"transcript", "import", file, "--data", t.TempDir()}); code != app.ExitOK {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for _, want := range []string{
		"imported slack-export/enrique: 103 events, read as slack\n  96 turns of 109 pieces, 13 left out\n",
		"imported slack-export/traveling-sailor: 56 events, read as slack\n  51 turns of 57 pieces, 6 left out\n",
		"       4 left out: notice of the program (channel_join)\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
