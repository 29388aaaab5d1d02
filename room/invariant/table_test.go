package invariant_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room/invariant"
)

// TestTable checks that docs/reliability.md lists the invariants. To rewrite the list,
// run MOOT_REWRITE=1 go test ./room/invariant -run TestTable.
func TestTable(t *testing.T) {
	var table strings.Builder
	table.WriteString("| | invariant |\n|---|---|\n")
	for _, i := range invariant.All() {
		fmt.Fprintf(&table, "| %s | %s |\n", i.ID, i.Sentence)
	}
	path := filepath.Join("..", "..", "docs", "reliability.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- invariants: the list of package room/invariant -->\n", "<!-- end of invariants -->"
	before, rest, ok := strings.Cut(string(page), begin)
	old, after, ended := strings.Cut(rest, end)
	switch {
	case !ok || !ended:
		t.Fatal("docs/reliability.md has no place for the list of invariants")
	case old == table.String():
	case os.Getenv("MOOT_REWRITE") != "":
		if err := os.WriteFile(path, []byte(before+begin+table.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("docs/reliability.md has another list of invariants; rewrite it with MOOT_REWRITE=1 go test ./room/invariant -run TestTable")
	}
}
