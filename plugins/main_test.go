package plugins

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
	"github.com/folkmoot/moot/policies/policy"
	"go.uber.org/goleak"
)

// root is the path to the module's root.
const root = ".."

// loadGuest loads a guest as trusted.
func loadGuest(tb testing.TB, h *Host, g w.Guest, settings policy.JSON) *Policy {
	tb.Helper()
	p, err := h.Load(context.Background(), Module{Name: g.Policy, Wasm: g.Module, Settings: settings, Trusted: true})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// cacheDir is shared by the tests of one run, so that each module is compiled
// once.
func cacheDir(tb testing.TB) string {
	tb.Helper()
	sharedCache.Do(func() { sharedDir, sharedErr = os.MkdirTemp("", "moot-plugins-test-") })
	if sharedErr != nil {
		tb.Fatal(sharedErr)
	}
	return sharedDir
}

var (
	sharedCache sync.Once
	sharedDir   string
	sharedErr   error
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if sharedDir != "" {
		_ = os.RemoveAll(sharedDir)
	}
	os.Exit(code)
}
