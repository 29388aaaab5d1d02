package importtest

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/folkmoot/moot/"
	root   = "../.."
)

// An edge is one import of one file, whatever its build constraints.
type edge struct {
	file, pkg, dep string
	line           int
}

func (e edge) test() bool { return strings.HasSuffix(e.file, "_test.go") }

func (e edge) String() string { return fmt.Sprintf("%s:%d", e.file, e.line) }

func TestArrows(t *testing.T) {
	edges, pkgs := scan(t)
	for _, pkg := range pkgs {
		if _, ok := ruleFor(pkg); !ok {
			t.Errorf("%s: no rule; add one to rules.go", pkg)
		}
	}
	for _, e := range edges {
		for _, broken := range check(e) {
			t.Errorf("%s: %s %s", e, e.pkg, broken)
		}
	}
}

// TestRulesAreUsed finds rules of packages and libraries that do not exist.
func TestRulesAreUsed(t *testing.T) {
	edges, pkgs := scan(t)
	for _, r := range rules {
		if !slices.ContainsFunc(pkgs, func(pkg string) bool { got, _ := ruleFor(pkg); return got == r }) {
			t.Errorf("the rule of %q applies to no package", r.pkg)
		}
	}
	for _, l := range reserves {
		if !slices.ContainsFunc(edges, func(e edge) bool { return matchAny(l.lib, e.dep) }) {
			t.Errorf("no package imports %s", l.lib)
		}
	}
}

// check returns what is wrong with one import.
func check(e edge) (broken []string) {
	r, _ := ruleFor(e.pkg)
	dep, ours := strings.CutPrefix(e.dep, module)
	if e.dep+"/" == module {
		dep, ours = ".", true
	}
	switch {
	case ours && matchAny("cmd/...", dep):
		broken = append(broken, "may not import a command: "+dep)
	case ours && !e.test() && dep != e.pkg && !r.allows(dep):
		broken = append(broken, "may not import "+dep)
	case !ours && !e.test() && matchAny(r.never, e.dep):
		broken = append(broken, "must stay pure, yet imports "+e.dep)
	}
	for _, l := range reserves {
		if matchAny(l.lib, e.dep) && !matchAny(l.packages, e.pkg) {
			broken = append(broken, fmt.Sprintf("may not import %s, which is for %s", e.dep, l.packages))
		}
	}
	return broken
}

// TestRulesBite makes sure that a forbidden import is found.
func TestRulesBite(t *testing.T) {
	for _, c := range []struct{ pkg, dep, want string }{
		{"room", "context", "must stay pure"},
		{"room", "math/rand/v2", "must stay pure"},
		{"room", module + "room/log", "may not import room/log"},
		{"room", module + "policies/policy", ""},
		{"room/log/sqlite", module + "room/log/memory", "may not import room/log/memory"},
		{"room/coordinator", module + "endpoints/ndjson", "may not import endpoints/ndjson"},
		{"endpoints/acp", module + "endpoints/ndjson", "may not import endpoints/ndjson"},
		{"endpoints/ndjson", module + "problem", ""},
		{"policies/policy", "encoding/json", "must stay pure"},
		{"policies/mention", module + "problem", "may not import problem"},
		{"plugins", module + "problem", "may not import problem"},
		{"plugins", module + "plugins/pool", ""},
		{"replay", "github.com/tetratelabs/wazero/api", "is for plugins/... test/fold"},
		{"room/coordinator", "github.com/spf13/viper", "is for internal/config"},
		{"internal/timeline", "github.com/gorilla/websocket", "is for endpoints/relay/..."},
		{"endpoints/relay/server", "github.com/gorilla/websocket", ""},
		{"test/e2e", module + "cmd/moot", "may not import a command"},
		{"cmd/moot", module + "internal/cli", ""},
		{".", module + "internal/cli", "may not import internal/cli"},
		{"room", strings.TrimSuffix(module, "/"), "may not import ."},
		{"internal/cli", module + "room/log/sqlite", "may not import room/log/sqlite"},
		{"internal/cli/roomcmd", strings.TrimSuffix(module, "/"), ""},
		{"cmd/moot", module + "plugins", "may not import plugins"},
	} {
		got := strings.Join(check(edge{file: "x.go", pkg: c.pkg, dep: c.dep}), "; ")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s -> %s: %q, want %q", c.pkg, c.dep, got, c.want)
		}
	}
	for _, pkg := range []string{"util", "internal/common", "room/deep/below", "cmd/other"} {
		if r, ok := ruleFor(pkg); ok {
			t.Errorf("%s has the rule %q", pkg, r.pkg)
		}
	}
}

// TestRoomReadsNoClock: the state machine is given the time.
func TestRoomReadsNoClock(t *testing.T) {
	clocks := []string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep"}
	for _, dir := range []string{"room", "policies/policy"} {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files in %s: %v", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clocks, s.Sel.Name) {
					t.Errorf("%s: time.%s in a pure package", fset.Position(s.Pos()), s.Sel.Name)
				}
				return true
			})
		}
	}
}

// TestWiring finds concrete types that are constructed outside wire.go.
func TestWiring(t *testing.T) {
	edges, _ := scan(t)
	found := 0
	for _, e := range edges {
		dep, ours := strings.CutPrefix(e.dep, module)
		if !ours || e.test() || !matchAny(wired, dep) || matchAny(mayConstruct, e.pkg) || e.pkg == dep {
			continue
		}
		for _, call := range constructors(t, e.file, path.Base(dep)) {
			found++
			if e.file != "wire.go" {
				t.Errorf("%s: %s.%s is called outside wire.go of the root package", call.pos, dep, call.name)
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d constructors are called: the scan is broken", found)
	}
}

type call struct {
	pos  token.Position
	name string
}

// constructors lists the calls of functions of a package that make something.
func constructors(t *testing.T, file, pkg string) (calls []call) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, filepath.Join(root, file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		s, ok := c.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := s.X.(*ast.Ident)
		if ok && x.Name == pkg && (strings.HasPrefix(s.Sel.Name, "New") || strings.HasPrefix(s.Sel.Name, "Open")) {
			calls = append(calls, call{fset.Position(s.Pos()), s.Sel.Name})
		}
		return true
	})
	return calls
}

// scan parses the import clauses of every Go file of the module.
func scan(t *testing.T) (edges []edge, pkgs []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // another test's passing file
		case err != nil:
			return err
		case d.IsDir():
			return enter(path, d.Name())
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		es, err := imports(path)
		edges = append(edges, es...)
		if rel := slashRel(filepath.Dir(path)); !slices.Contains(pkgs, rel) {
			pkgs = append(pkgs, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(edges) < 50 {
		t.Fatalf("only %d imports found: the scan is broken", len(edges))
	}
	return edges, pkgs
}

// enter skips what the go command skips, and modules within this one.
func enter(path, name string) error {
	if path == root {
		return nil
	}
	if name == "testdata" || name[0] == '.' || name[0] == '_' {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func imports(path string) ([]edge, error) {
	src, err := os.ReadFile(path)
	if err != nil || bytes.Contains(src, []byte("//go:build ignore\n")) {
		return nil, err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, src, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var es []edge
	for _, i := range f.Imports {
		dep, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, err
		}
		es = append(es, edge{
			file: slashRel(path), pkg: slashRel(filepath.Dir(path)), dep: dep,
			line: fset.Position(i.Pos()).Line,
		})
	}
	return es, nil
}

func slashRel(path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}
