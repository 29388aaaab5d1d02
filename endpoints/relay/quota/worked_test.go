package quota

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
)

// TestWorked checks that work is counted per profile, device and day, over
// restarts, and that a clock that is set back gives no new day.
func TestWorked(t *testing.T) {
	dir, with, other := t.TempDir(), relaytest.NewID(t), relaytest.NewID(t)
	now := time.Date(2026, 3, 1, 23, 59, 0, 0, time.UTC)
	open := func() *Quota {
		q, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		q.now = func() time.Time { return now }
		return q
	}
	p := Profile{Name: "coder"}
	wants := func(when string, want time.Duration) {
		t.Helper()
		if d, err := open().Worked(p, with); d != want || err != nil {
			t.Errorf("%s: %v and %v, want %v", when, d, err, want)
		}
	}
	wants("at first", 0)
	for _, q := range []*Quota{open(), open()} {
		if err := errors.Join(q.AddWork(p, with, 40*time.Second), q.AddWork(p, other, time.Hour), q.AddWork(Profile{Name: "x"}, with, time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	wants("after two turns", 80*time.Second)
	now = now.Add(-48 * time.Hour)
	wants("with a clock that is set back", 80*time.Second)
	now = now.Add(48*time.Hour + time.Minute)
	wants("on the next day", 0)
	if err := os.WriteFile(filepath.Join(dir, "worked.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open().Worked(p, with); !errors.Is(err, endpoint.ErrLimited) {
		t.Errorf("a damaged file: %v", err)
	}
}
