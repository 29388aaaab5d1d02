package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

const guestsHere = "github.com/folkmoot/moot/bench/guests/"

// built are the guests in Go, each built once a run.
var built struct {
	sync.Mutex
	dir   string
	paths map[string]string
}

// goGuest builds the package for WebAssembly with stock Go and returns where
// the module lies.
func goGuest(tb testing.TB, pkg string) string {
	tb.Helper()
	built.Lock()
	defer built.Unlock()
	if p, ok := built.paths[pkg]; ok {
		return p
	}
	if built.dir == "" {
		tb.Fatal("TestMain did not run")
	}
	path := filepath.Join(built.dir, fmt.Sprintf("%d.wasm", len(built.paths)))
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-w -buildid=", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("building %s: %v\n%s", pkg, err, out)
	}
	built.paths[pkg] = path
	return path
}

// wasm reads a module; a path that starts with "go:" is a package to build.
func wasm(tb testing.TB, path string) []byte {
	tb.Helper()
	if len(path) > 3 && path[:3] == "go:" {
		path = goGuest(tb, path[3:])
	}
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// scratch is a folder for caches that lasts for the whole run.
func scratch(tb testing.TB, name string) string {
	tb.Helper()
	dir := filepath.Join(built.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	return dir
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "moot-bench-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built.dir, built.paths = dir, map[string]string{}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
