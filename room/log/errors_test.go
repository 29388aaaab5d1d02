package log_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/problem"
)

// TestErrorsAreComplete walks the errors of the log and its engines: each has a
// documented code, a place and a fix, in its literal or assigned in the same function.
func TestErrorsAreComplete(t *testing.T) {
	files, codes := token.NewFileSet(), 0
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			codes += checkErrors(t, files, d)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if codes < 20 {
		t.Errorf("%d codes: the test tests nothing", codes)
	}
}

// checkErrors checks the errors of one declaration and returns how many codes it
// has.
func checkErrors(t *testing.T, files *token.FileSet, d ast.Decl) (codes int) {
	assigned := map[string]bool{}
	var literals []*ast.CompositeLit
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if x, ok := left.(*ast.SelectorExpr); ok {
					assigned[x.Sel.Name] = true
				}
			}
		case *ast.BasicLit:
			code := strings.Trim(n.Value, "\"")
			if !strings.HasPrefix(code, "LOG-") {
				break
			}
			codes++
			if m, ok := problem.Lookup(code); !ok || m.Fix == "" {
				t.Errorf("%s: %s has no documented fix", files.Position(n.Pos()), code)
			}
		case *ast.CompositeLit:
			if x, ok := n.Type.(*ast.SelectorExpr); ok && x.Sel.Name == "Error" {
				literals = append(literals, n)
			}
		}
		return true
	})
	for _, l := range literals {
		has := map[string]bool{}
		for _, e := range l.Elts {
			has[e.(*ast.KeyValueExpr).Key.(*ast.Ident).Name] = true
		}
		for _, field := range []string{"Code", "What", "Where", "Fix"} {
			if !has[field] && !assigned[field] {
				t.Errorf("%s: an error without %s", files.Position(l.Pos()), field)
			}
		}
	}
	return codes
}
