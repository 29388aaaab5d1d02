package timeline

import (
	"os"
	"strings"
	"testing"
)

// TestDocumented: docs/terminal.md names every key and every command.
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
	for _, v := range verbs() {
		if !v.script && !strings.Contains(page, "`/"+v.name) {
			t.Errorf("docs/terminal.md does not name the command %s", v.name)
		}
	}
}
