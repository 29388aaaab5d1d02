package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// TestBackup copies a log to which another process appends. The copy has every
// event that was acknowledged before, in one chain, and takes appends.
func TestBackup(t *testing.T) {
	dir := t.TempDir()
	c := command(t, dir, roleAppend)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var acked []ack
	enough, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		acks(out, func(a ack) {
			mu.Lock()
			defer mu.Unlock()
			if acked = append(acked, a); len(acked) == 50 {
				close(enough)
			}
		})
	}()
	<-enough
	d, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 3 {
		mu.Lock()
		before := append([]ack{}, acked...)
		mu.Unlock()
		to := t.TempDir()
		if err := d.Backup(ctx, to); err != nil {
			t.Fatal(err)
		}
		b := open(t, to)
		holds(t, b, before)
		at, err := b.Tail(ctx, "red")
		if err == nil {
			_, _, err = b.Append(ctx, "red", at, time.Time{}, logtest.Event("next", "x"))
		}
		if err := errors.Join(err, b.Close()); err != nil {
			t.Error(err)
		}
	}
	c.Process.Kill()
	<-done
	c.Wait()
}

// TestBackupOfDamage checks that the copy of a log names the rooms that have lost
// their ends, and no room that was removed.
func TestBackupOfDamage(t *testing.T) {
	dir, _ := shortened(t)
	d := open(t, dir)
	defer d.Close()
	if err := d.Remove(ctx, "gone"); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if err := d.Backup(ctx, to); !errors.Is(err, log.ErrShort) {
		t.Errorf("got %v", err)
	}
	for range 2 {
		b := open(t, to)
		infos, err := b.Rooms(ctx)
		if len(infos) != 2 || infos[0].Damage == nil || infos[1].Damage != nil || !errors.Is(err, log.ErrShort) {
			t.Errorf("rooms are %+v, %v", infos, err)
		}
		b.Close()
	}
	if info, err := os.Stat(filepath.Join(to, sqlite.FileName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
