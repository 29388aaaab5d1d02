package timeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocumented: docs/terminal.md names every key and every command, and shows the
// screens that tests compare.
func TestDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/terminal.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, k := range keyHelp {
		if k[0] == "/ and //" {
			continue
		}
		keys := strings.Fields(k[0])
		if keys[0] == keys[len(keys)-1] && len(keys) > 1 {
			keys = []string{k[0]} // the same key twice
		}
		for _, key := range keys {
			if !strings.Contains(page, "`"+key+"`") {
				t.Errorf("docs/terminal.md does not name the key %s", key)
			}
		}
	}
	screens, err := filepath.Glob("testdata/screen-*.txt")
	if err != nil || len(screens) == 0 {
		t.Error("there are no screens", err)
	}
	for _, file := range screens {
		screen, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		if !strings.Contains(page, "```text\n"+string(screen)+"```") {
			t.Errorf("docs/terminal.md does not show %s", file)
		}
	}
	for _, v := range verbs() {
		if !v.script && !strings.Contains(page, "`/"+v.name) {
			t.Errorf("docs/terminal.md does not name the command %s", v.name)
		}
	}
}
