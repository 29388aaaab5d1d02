package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A subject is the package whose tests are measured.
type subject struct {
	dir     string
	name    string
	mutants []mutant
	sources map[string]string // instrumented, by the path of the original
	hashes  map[string]string // of functions, by their names
}

// load parses the package in dir and instruments it.
func load(dir string) (*subject, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	listed, exports, err := list(dir)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	files := make([]*ast.File, len(listed.GoFiles))
	sources := make([][]byte, len(listed.GoFiles))
	for i, name := range listed.GoFiles {
		path := filepath.Join(dir, name)
		if sources[i], err = os.ReadFile(path); err != nil {
			return nil, err
		}
		if files[i], err = parser.ParseFile(fset, path, sources[i], parser.SkipObjectResolution); err != nil {
			return nil, err
		}
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup)}
	pkg, err := conf.Check(listed.ImportPath, fset, files, info)
	if err != nil {
		return nil, err
	}
	p := &subject{dir: dir, name: listed.Name, sources: map[string]string{}, hashes: map[string]string{}}
	seen := map[string]int{}
	for i, f := range files {
		in := &instrumenter{
			pkg: pkg, info: info, fset: fset, src: sources[i], base: fset.File(f.Pos()).Base(),
			first: len(p.mutants) + 1, seen: seen, imports: map[string]bool{},
		}
		for _, spec := range f.Imports {
			in.imports[strings.Trim(spec.Path.Value, `"`)] = true
		}
		p.sources[filepath.Join(dir, listed.GoFiles[i])] = in.file(f, p.hashes)
		p.mutants = append(p.mutants, in.found...)
	}
	return p, nil
}

// file returns the source of a file with the mutants of its functions. A
// generic function has none: its types have no names outside it.
func (in *instrumenter) file(f *ast.File, hashes map[string]string) string {
	var out strings.Builder
	at := 0
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || fn.Type.TypeParams != nil {
			continue
		}
		in.fn = functionName(fn)
		sum := sha256.Sum256([]byte(in.text(fn)))
		hashes[in.fn] = hex.EncodeToString(sum[:8])
		from := int(fn.Body.Pos()) - in.base
		out.Write(in.src[at:from])
		out.WriteString(in.rewrite(fn.Body))
		at = int(fn.Body.End()) - in.base
	}
	out.Write(in.src[at:])
	return out.String()
}

func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}

// A listing is what `go list` says of a package.
type listing struct {
	ImportPath, Name, Export string
	GoFiles                  []string
	DepOnly                  bool
}

// list returns the package in dir and the export data of what it imports.
func list(dir string) (listing, map[string]string, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Export,GoFiles,DepOnly", ".")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return listing{}, nil, fmt.Errorf("listing %s: %w", dir, err)
	}
	var of listing
	exports := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listing
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return of, exports, nil
		} else if err != nil {
			return listing{}, nil, err
		}
		exports[l.ImportPath] = l.Export
		if !l.DepOnly {
			of = l
		}
	}
}

// readEquivalent returns the reasons of a list of equivalent mutants by the
// mutants' names.
func readEquivalent(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	out := map[string]string{}
	for n, line := range strings.Split(string(b), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, why, ok := strings.Cut(line, "  # ")
		if !ok || why == "" {
			return nil, fmt.Errorf("%s:%d: give the reason after two spaces and #", path, n+1)
		}
		out[name] = why
	}
	return out, err
}

// differing returns the functions whose text differs from what record wrote.
func (p *subject) differing(path string) (map[string]bool, error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	out := map[string]bool{}
	for fn, sum := range p.hashes {
		out[fn] = !slices.Contains(strings.Split(string(b), "\n"), fn+" "+sum)
	}
	return out, nil
}

// record notes the functions as measured all of whose mutants were tested, and of which
// none has survived that is not listed.
func (p *subject) record(path string, tested, survived []mutant, listed map[string]string) error {
	open := map[string]int{} // mutants that are not accounted for
	for _, m := range p.mutants {
		open[m.fn]++
	}
	for _, m := range tested {
		open[m.fn]--
	}
	for _, m := range survived {
		if listed[m.name()] == "" {
			open[m.fn]++
		}
	}
	waiting := filepath.Join(filepath.Dir(path), unmeasuredFile)
	differs, err := p.differing(path)
	unnoted, err2 := p.differing(waiting)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	measured := func(fn string) bool { return !differs[fn] || open[fn] == 0 }
	if err := p.write(path, measured); err != nil {
		return err
	}
	return p.write(waiting, func(fn string) bool { return !unnoted[fn] && !measured(fn) })
}

// write lists the functions that are wanted, with their hashes. A file without any is
// removed.
func (p *subject) write(path string, wanted func(fn string) bool) error {
	lines := make([]string, 0, len(p.hashes))
	for fn, sum := range p.hashes {
		if wanted(fn) {
			lines = append(lines, fn+" "+sum+"\n")
		}
	}
	if len(lines) == 0 {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	slices.Sort(lines)
	return os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644)
}
