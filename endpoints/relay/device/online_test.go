package device

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/internal/flock"
	"github.com/folkmoot/moot/problem"
)

// TestOnlineWaits checks that a device waits for a process that drops old answers,
// which takes a second on a slow disk, and that it names the process that has the
// device online for longer.
func TestOnlineWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := Open(Config{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		unlock, ok, err := flock.TryLock(onlineLock(d.cfg.Dir))
		if err != nil || !ok {
			t.Fatalf("%v, %v", ok, err)
		}
		time.AfterFunc(time.Second, unlock)
		if err := d.Rotate(false); err != nil {
			t.Errorf("after a second: %v", err)
		}
		unlock, err = d.hold()
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
		err = d.Rotate(false)
		var coded *problem.Error
		if !errors.As(err, &coded) || coded.Code != "RELAY-ONLINE" || !strings.Contains(coded.What, "process "+strconv.Itoa(os.Getpid())) {
			t.Errorf("while the device is online: %v", err)
		}
	})
}

// TestDropOldAnswersNamesProcess checks that the file of the lock has the process
// that drops old answers, and not an earlier one.
func TestDropOldAnswersNamesProcess(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{onlineLock(dir): "1234567\n", filepath.Join(dir, "journal.jsonl"): ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := DropOldAnswers(dir); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(onlineLock(dir)); err != nil || string(b) != strconv.Itoa(os.Getpid())+"\n" {
		t.Errorf("the file has %q, %v", b, err)
	}
}
