package sqlite_test

import (
	"bytes"
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
		if damage, err := d.Backup(ctx, to); damage != nil || err != nil {
			t.Fatal(damage, err)
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
	if damage, err := d.Backup(ctx, to); !errors.Is(damage, log.ErrShort) || err != nil {
		t.Errorf("damage %v, error %v", damage, err)
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

// TestBackupOfDamagedPages zeroes each page of the database in turn. Either Backup
// fails, or the copy has every event, or the damage is named.
func TestBackupOfDamagedPages(t *testing.T) {
	const page = 4096
	dir := t.TempDir()
	hashes := small(t, dir)
	path := filepath.Join(dir, sqlite.FileName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for at := page; at < len(whole); at += page {
		b := bytes.Clone(whole)
		clear(b[at : at+page])
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		to := t.TempDir()
		damage, err := backUp(t, dir, to)
		switch {
		case err != nil:
			failed++
			if code(err) == "NONE" {
				t.Errorf("page %d: the error has no code: %v", at/page, err)
			}
		case damage == nil:
			if err := inspect(t, to, hashes); err != nil {
				t.Errorf("page %d: %v", at/page, err)
			}
		}
	}
	if failed == 0 {
		t.Error("no damaged page has prevented a copy")
	}
	t.Logf("%d pages, %d copies failed", len(whole)/page-1, failed)
}

// backUp copies the log of a folder that cannot be changed meanwhile.
func backUp(t *testing.T, dir, to string) (damage, err error) {
	t.Helper()
	d, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Backup(t.Context(), to)
}
