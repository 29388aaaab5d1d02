package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/problem"
)

// codeLike is what a code looks like; notCodes look like one and are none.
var (
	codeLike = regexp.MustCompile(`^([A-Z][A-Z0-9]+(-[A-Z0-9]+)+|(load|run|pack)\.[a-z_]+)$`)
	notCodes = []string{"UTF-8", "SHA-256", "AES-256", "CRC-32", "TERM-1"}
)

// TestCodesDocumented: every code in the sources has a meaning, and every
// meaning is of a code in the sources.
func TestCodesDocumented(t *testing.T) {
	used := codesInSources(t)
	for code, place := range used {
		if _, ok := problem.Lookup(code); !ok {
			t.Errorf("%s: %s has no meaning in problem/codes*.go", place, code)
		}
	}
	seen := map[string]bool{}
	for _, m := range problem.Codes() {
		if seen[m.Code] {
			t.Errorf("%s has two meanings", m.Code)
		}
		seen[m.Code] = true
		if used[m.Code] == "" {
			t.Errorf("%s is documented but used nowhere", m.Code)
		}
		known := slices.ContainsFunc(app.ExitCodes[1:], func(e app.Ending) bool { return e.Code == m.Exit })
		if m.Means == "" || !known {
			t.Errorf("%s: incomplete: %+v", m.Code, m)
		}
	}
}

// codesInSources finds string literals that look like a code, outside tests
// and the table itself.
func codesInSources(t *testing.T) map[string]string {
	t.Helper()
	const root = "../.."
	used := map[string]string{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (name == "testdata" || name == "bench" || name[0] == '.'):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"), strings.HasPrefix(name, "codes") && filepath.Base(filepath.Dir(path)) == "problem":
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			s, err := strconv.Unquote(lit.Value)
			if err == nil && codeLike.MatchString(s) && !slices.Contains(notCodes, s) {
				used[s] = fset.Position(lit.Pos()).String()
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(used) < 50 {
		t.Fatalf("only %d codes found: the scan is broken", len(used))
	}
	return used
}
