//go:build unix

package processes

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestWatchCases: cases run again when a case or a source changes, and Ctrl-C
// ends it well.
func TestWatchCases(t *testing.T) {
	guest, err := filepath.Abs("../../policies/policytest/testdata/guests/c.wasm")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorkbench(t, map[string]string{
		"policy.json": `{"name":"tiny","version":"1.0.0","abi":1}`,
		"build.sh":    "cp '" + guest + "' policy.wasm\n",
	})
	cases := filepath.Join(w.dir, "cases")
	if err := os.Mkdir(cases, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(cases, "empty.yaml"), "steps:\n  - want: '{\"action\":\"decline\",\"reason\":\"nobody else can speak now\"}'\n")
	r := w.start("policy", "test", "--watch")
	r.until(t, "1 case passed")
	write(filepath.Join(cases, "empty.yaml"), "steps:\n  - want: other\n")
	r.until(t, "1 failed")
	write(filepath.Join(cases, "empty.yaml"), "steps:\n  - want: '{\"action\":\"decline\",\"reason\":\"nobody else can speak now\"}'\n")
	r.until(t, "1 case passed")
	write(filepath.Join(w.dir, "policy.json"), `{"name":"tiny","version":"1.0.1","abi":1}`)
	r.until(t, "tiny 1.0.1: 1 case passed")
	if err := r.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ended := make(chan int, 1)
	go func() { ended <- r.end() }()
	select {
	case code := <-ended:
		if code != 0 {
			t.Errorf("ended with %d\n%s", code, r.stderr)
		}
	case <-time.After(3 * time.Minute):
		t.Error("Ctrl-C does not end it")
	}
}
