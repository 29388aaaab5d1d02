//go:build unix

package compile

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/folkmoot/moot/plugins/guest"
	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
	"golang.org/x/sys/unix"
)

// TestFullDisk: while nothing can be written, built-in policies load without
// the cache, and third-party ones say what is missing. An entry that exists is
// left alone. It limits a process of its own.
func TestFullDisk(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestOnFullDisk$", "-test.count=1")
	cmd.Env = append(os.Environ(), fullDisk+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

const fullDisk = "FOLKMOOT_TEST_FULL_DISK"

// TestOnFullDisk is the process of TestFullDisk.
func TestOnFullDisk(t *testing.T) {
	if os.Getenv(fullDisk) == "" {
		t.Skip("TestFullDisk runs it")
	}
	if guest.Engine(false) != guest.EngineCompiler {
		t.Skip("wazero has no compiler for this platform")
	}
	c := open(t, Config{CacheDir: t.TempDir()})
	kept, module := w.Answering("1"), w.Answering("{}")
	if err := prepare(c, true, kept); err != nil {
		t.Fatal(err)
	}
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ) // then a write fails, as on a full disk
	none := old
	none.Cur = 0
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &none); err != nil {
		t.Fatal(err)
	}
	errTrusted, errKept, errUntrusted := prepare(c, true, module), prepare(c, true, kept), prepare(c, false, w.Answering("2"))
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if errTrusted != nil || errKept != nil {
		t.Errorf("built in: %v, %v", errTrusted, errKept)
	}
	if e, ok := errUntrusted.(*guest.Error); !ok || e.Code != guest.CodeCompile && e.Code != guest.CodeCache {
		t.Errorf("third party: %v", errUntrusted)
	}
	if c.cache.get(guest.Digest(kept)) == nil {
		t.Error("the entry is gone")
	}
	if err := prepare(c, false, w.Answering("2")); err != nil {
		t.Error(err)
	}
}
