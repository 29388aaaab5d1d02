package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// The WebAssembly specification's own tests, which wazero carries in its
// module, are run twice side by side: as they are, and rewritten. Whatever
// one of them answers, the other must answer.

func specDir(t testing.TB) string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	dir := filepath.Join(strings.TrimSpace(string(out)), "internal", "integration_test", "spectest")
	if _, e := os.Stat(dir); err != nil || e != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the specification's tests are missing: %v %v", err, e)
		}
		t.Skip("wazero's module, which holds the specification's tests, is not in the module cache")
	}
	return dir
}

// A side is one of the runs.
type side struct {
	name    string
	runtime wazero.Runtime
	rewrite bool
	modules map[string]api.Module
	all     []api.Module
	last    api.Module
}

// newSides returns the original and the rewritten, each on both engines.
func newSides(t *testing.T, dir string) []*side {
	b, err := os.ReadFile(filepath.Join(dir, "testdata", "spectest.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	sides := []*side{{name: "compiler"}, {name: "interpreter"}, {name: "rewritten, compiler"}, {name: "rewritten, interpreter"}}
	ctx := context.Background()
	for i, s := range sides {
		c := wazero.NewRuntimeConfigCompiler()
		if i%2 == 1 {
			c = wazero.NewRuntimeConfigInterpreter()
		}
		s.runtime = wazero.NewRuntimeWithConfig(ctx, c.WithDebugInfoEnabled(false))
		s.rewrite, s.modules = i >= 2, map[string]api.Module{}
		if _, err := s.runtime.InstantiateWithConfig(ctx, b, wazero.NewModuleConfig()); err != nil {
			t.Fatal(err)
		}
	}
	return sides
}

// specLimits let through what the specification's tests do.
var specLimits = func() Limits {
	l := Default
	l.Pages, l.Tables, l.Table, l.Imports = 1<<16, 1000, 1<<31-1, 1000
	return l
}()

var errRefused = errors.New("refused by Meter")

func (s *side) load(b []byte, name string) error {
	if s.rewrite {
		m, err := Meter(b, specLimits, Budget{Fuel: specFuel, Depth: specDepth})
		if err != nil {
			return fmt.Errorf("%w: %w", errRefused, err)
		}
		b = m.Whole
	}
	m, err := s.runtime.InstantiateWithConfig(context.Background(), b, wazero.NewModuleConfig().WithName(name).WithStartFunctions())
	if err == nil {
		s.last = m
		s.all = append(s.all, m)
		if f := m.ExportedFunction(ExportStart); f != nil {
			_, err = f.Call(context.Background())
		}
	}
	return err
}

const specFuel, specDepth = 1 << 40, 1000

// refill gives every module its fuel and depth back.
func (s *side) refill() {
	for _, m := range s.all {
		m.ExportedGlobal(ExportFuel).(api.MutableGlobal).Set(specFuel)
		m.ExportedGlobal(ExportDepth).(api.MutableGlobal).Set(specDepth)
	}
}

// used returns the fuel that was used since.
func (s *side) used() (n uint64) {
	for _, m := range s.all {
		n += specFuel - m.ExportedGlobal(ExportFuel).Get()
	}
	return n
}

func (s *side) module(name string) api.Module {
	if name == "" {
		return s.last
	}
	return s.modules[name]
}

// act does an action and tells how it ended.
func (s *side) act(c *specCommand) (results []uint64, trap string) {
	m := s.module(c.Action.Module)
	if s.rewrite {
		s.refill()
	}
	if c.Action.Type == "get" {
		return []uint64{m.ExportedGlobal(c.Action.Field).Get()}, ""
	}
	f := m.ExportedFunction(c.Action.Field)
	if f == nil {
		return nil, "no function"
	}
	var args []uint64
	for _, a := range c.Action.Args {
		args = append(args, a.words()...)
	}
	results, err := f.Call(context.Background(), args...)
	if err != nil {
		trap, _, _ = strings.Cut(err.Error(), "\n")
		trap = strings.TrimPrefix(trap, "wasm error: ")
	}
	results = append([]uint64(nil), results...)
	at := 0
	for _, t := range f.Definition().ResultTypes() {
		switch {
		case at >= len(results):
		case t == api.ValueTypeI32 || t == api.ValueTypeF32:
			results[at] = uint64(uint32(results[at])) // the engine leaves the upper half open
		case t == typeV128:
			at++
		}
		at++
	}
	return results, trap
}

// TestSpec runs the suites of WebAssembly 1.0 and 2.0.
func TestSpec(t *testing.T) {
	dir := specDir(t)
	for _, version := range []string{"v2", "v1"} {
		if version == "v1" && testing.Short() {
			continue // nearly all of it is in v2
		}
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			files, err := filepath.Glob(filepath.Join(dir, version, "testdata", "*.json"))
			if err != nil || len(files) < 60 {
				t.Fatalf("%d files %v", len(files), err)
			}
			run := specRun{t: t, dir: dir}
			for _, f := range files {
				run.file(f)
			}
			t.Logf("%d modules, of which %d refused; %d actions equal, %d of them traps; %d invalid modules refused",
				run.loaded, run.refused, run.actions, run.traps, run.invalid)
			if run.loaded < 700 || run.refused > 60 || run.actions < 15000 || run.traps < 400 || run.invalid < 900 {
				t.Error("fewer than the suite holds")
			}
		})
	}
}

type specRun struct {
	t     *testing.T
	dir   string
	sides []*side

	loaded, refused, actions, traps, invalid int
}

func (r *specRun) file(path string) {
	b, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	var f specFile
	if err := json.Unmarshal(b, &f); err != nil {
		r.t.Fatal(err)
	}
	r.sides = newSides(r.t, r.dir)
	for i := range f.Commands {
		c := &f.Commands[i]
		at := fmt.Sprintf("%s:%d %s", filepath.Base(path), c.Line, c.Type)
		wasm := filepath.Join(filepath.Dir(path), c.Filename)
		switch {
		case c.Type == "module":
			name := ""
			if next := i + 1; next < len(f.Commands) && f.Commands[next].Type == "register" {
				name = f.Commands[next].As
			}
			r.module(at, wasm, c.Name, name)
		case c.Filename != "" && c.ModuleType != "text":
			r.refuse(at, wasm)
		case c.Action.Type != "":
			r.action(at, c)
		}
	}
	for _, s := range r.sides {
		_ = s.runtime.Close(context.Background())
	}
}

func (r *specRun) module(at, path, local, name string) {
	b, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	r.loaded++
	var errs []error
	refused := false
	for _, s := range r.sides {
		s.last = nil
		err := s.load(b, name)
		var e *Error
		refused = refused || errors.As(err, &e) && e.Kind != Malformed // table.grow, or a limit
		errs = append(errs, err)
	}
	for i, s := range r.sides {
		if refused {
			s.last = nil
		} else if (errs[i] == nil) != (errs[0] == nil) {
			r.t.Errorf("%s: %v, %s %v", at, errs[0], s.name, errs[i])
		}
		if local != "" {
			s.modules[local] = s.last
		}
	}
	if refused {
		r.refused++
	}
}

// refuse checks that what is invalid does not become valid.
func (r *specRun) refuse(at, path string) {
	b, err := os.ReadFile(path)
	if err != nil {
		return // a text form
	}
	r.invalid++
	var valid bool
	for _, s := range r.sides {
		last := s.last
		err := s.load(b, "")
		s.last = last
		switch {
		case s == r.sides[0]:
			valid = err == nil
		case !valid && err == nil:
			r.t.Errorf("%s: refused, but accepted on %s", at, s.name)
		case valid && err != nil && !errors.Is(err, errRefused):
			r.t.Errorf("%s: accepted, but on %s: %v", at, s.name, err)
		}
	}
}

func (r *specRun) action(at string, c *specCommand) {
	for _, s := range r.sides {
		if s.module(c.Action.Module) == nil {
			return
		}
	}
	r.actions++
	want, trap := r.sides[0].act(c)
	if trap != "" {
		r.traps++
	}
	var answers [4][]uint64
	for i, s := range r.sides[1:] {
		got, t := s.act(c)
		answers[i+1] = got
		if s.rewrite && strings.Contains(trap, "stack overflow") && t == "unreachable" && s.depth(c) < 0 {
			continue // ours ends such calls sooner, and by itself
		}
		if t != trap || !sameWords(want, got) {
			r.t.Errorf("%s %s%v: %x %q, %s %x %q", at, c.Action.Field, c.Action.Args, want, trap, s.name, got, t)
		}
	}
	if !slices.Equal(answers[2], answers[3]) {
		r.t.Errorf("%s %s: %x on the compiler, %x on the interpreter", at, c.Action.Field, answers[2], answers[3])
	}
	if a, b := r.sides[2].used(), r.sides[3].used(); a != b {
		r.t.Errorf("%s %s: %d fuel on the compiler, %d on the interpreter", at, c.Action.Field, a, b)
	}
}

func (s *side) depth(c *specCommand) int32 {
	return int32(s.module(c.Action.Module).ExportedGlobal(ExportDepth).Get())
}
