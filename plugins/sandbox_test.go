package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"

	"github.com/folkmoot/moot/plugins/guest"
)

var update = flag.Bool("update", false, "write the hostile modules to testdata/hostile")

// largestCommitted is the size in bytes up to which hostile modules are committed.
const largestCommitted = 32 << 10

// TestHostile: every hostile module is refused at load, fails with its code, or
// answers harmlessly, the same twice. Meanwhile a good policy still decides, and
// the memory of the host stays small.
func TestHostile(t *testing.T) {
	h := newHost(t, Config{CacheDir: t.TempDir(), CompileTime: 20 * time.Second})
	quick := newHost(t, Config{CompileTime: time.Second})
	good := load(t, h, w.Counting())
	for _, m := range hostileModules {
		t.Run(m.name, func(t *testing.T) {
			if testing.Short() && slow[m.name] {
				t.Skip("compiling it takes seconds")
			}
			module := m.module()
			keepModule(t, m.name, module)
			grown := peak()
			h := h
			if m.load == CodeCompile {
				h = quick
			}
			p, err := loadUntrusted(t, h, module)
			if m.load != "" {
				e := wantCode(t, err, m.load)
				t.Log(e)
			} else if err != nil {
				t.Fatal(err)
			} else {
				runHostile(t, p, m)
				p.Close()
			}
			if mib := grown(); mib > 64 {
				t.Errorf("the host grew by %d MiB", mib)
			}
			if _, _, err := good.Propose(context.Background(), roster); err != nil {
				t.Errorf("the good policy: %v", err)
			}
		})
	}
}

var slow = map[string]bool{
	"fills-2000": true, "fills-20000": true, "functions-60000": true, "functions-1M": true, "giant-function": true,
}

func runHostile(t *testing.T, p *Policy, m hostile) {
	t.Helper()
	start := time.Now()
	_, rec, err := p.Propose(context.Background(), roster)
	took := time.Since(start)
	d2, rec2, err2 := p.Propose(context.Background(), roster)
	if codeOf(err) != codeOf(err2) || rec.Fuel != rec2.Fuel && codeOf(err) != CodeFuel || rec.Log != rec2.Log {
		t.Errorf("twice: %+v, then %+v", rec, rec2)
	}
	t.Logf("%v for %d fuel: %v", took, rec.Fuel, err)
	if m.run == "" {
		if err != nil || err2 != nil {
			t.Fatalf("%v, %v", err, err2)
		}
		if strings.Contains(d2.Reason, "2") {
			t.Error("the second call remembers the first")
		}
		return
	}
	wantCode(t, err, m.run)
	if len(rec.Log) > guest.MaxLog+3 {
		t.Errorf("a log of %d bytes", len(rec.Log))
	}
}

// keepModule compares or writes a small module's file.
func keepModule(t *testing.T, name string, module []byte) {
	t.Helper()
	if len(module) > largestCommitted {
		return
	}
	path := filepath.Join("testdata", "hostile", name+".wasm")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, module, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil || string(have) != string(module) {
		t.Errorf("%s is not what the test makes (%v); run with -update", path, err)
	}
}

// TestHostileIsListed: every file of testdata/hostile is in the table.
func TestHostileIsListed(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "hostile", "*.wasm"))
	if err != nil || len(files) < 60 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	known := map[string]bool{}
	for _, m := range hostileModules {
		known[m.name+".wasm"] = true
	}
	for _, f := range files {
		if !known[filepath.Base(f)] {
			t.Errorf("%s is of no case", f)
		}
	}
}

// peak returns a function that returns the largest growth of the resident
// memory since, in MiB.
func peak() func() int {
	debug.FreeOSMemory()
	if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil { // resets VmHWM (proc(5)); Linux only
		return func() int { return 0 }
	}
	before := status("VmRSS:")
	return func() int { return (status("VmHWM:") - before) >> 10 }
}

func status(key string) int {
	b, _ := os.ReadFile("/proc/self/status")
	_, s, _ := strings.Cut(string(b), key)
	kb, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	n, _ := strconv.Atoi(kb)
	return n
}

// TestCaseFile: testdata/case.json is a valid input.
func TestCaseFile(t *testing.T) {
	path := filepath.Join("testdata", "case.json")
	want := roster.AppendJSON(nil)
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil || string(b) != string(want) || !json.Valid(b) {
		t.Errorf("%v; run with -update", err)
	}
	r, err := load(t, newHost(t, Config{}), w.Counting()).Run(context.Background(), b)
	if err != nil || len(r.Output) == 0 {
		t.Error(err)
	}
}

// TestFailureIsSaved: the exact input of a failed decision is saved, and the
// error says how to repeat the decision.
func TestFailureIsSaved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "failed")
	p := load(t, newHost(t, Config{FailDir: dir}), decides("", nil, forever, zero64)())
	_, rec, err := p.Propose(context.Background(), roster)
	e := wantCode(t, err, CodeFuel)
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 1 || !strings.HasSuffix(e.Fix, "`moot policy run --policy under-test "+files[0]+"`") {
		t.Fatalf("%v: %s", files, e.Fix)
	}
	b, err := os.ReadFile(files[0])
	if err != nil || guest.Digest(b) != rec.Input {
		t.Errorf("%v: not the input", err)
	}
	r, err := p.Run(context.Background(), b)
	var again *Error
	if !errors.As(err, &again) || again.Code != e.Code || r.Fuel != rec.Fuel {
		t.Errorf("run again: %v, %d fuel; it was %d", err, r.Fuel, rec.Fuel)
	}
}
