package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// TestLockOfKilledProcess checks that the error names the process that holds a
// room, and that the lock ends when this process is killed.
func TestLockOfKilledProcess(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	defer d.Close()
	c := command(t, dir, roleHold)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("held"))
	if _, err := out.Read(line); err != nil || string(line) != "held" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	_, err = d.Lock(t.Context(), childRooms[0])
	if !errors.Is(err, log.ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("process %d", c.Process.Pid)) {
		t.Fatalf("locking what process %d holds: %v", c.Process.Pid, err)
	}
	if code(err) != "LOG-LOCKED" {
		t.Errorf("its code is %s", code(err))
	}
	other, err := d.Lock(t.Context(), childRooms[1])
	if err != nil {
		t.Fatal(err)
	}
	other()
	c.Process.Kill()
	c.Wait()
	unlock, err := d.Lock(t.Context(), childRooms[0])
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// TestTwoProcesses lets two processes append to rooms of one file while a third,
// which may only read, follows both. They begin when both have opened it. Each
// writes a number of events: without one, the process that is faster would take
// the lock again and again while the other waits for it.
func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	r, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: true, Poll: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const enough = 150
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	var acked []ack
	var running, following, opened sync.WaitGroup
	for _, names := range []string{"one two", "three four"} {
		c := command(t, dir, roleAppend)
		c.Env = append(c.Env, "ROOMS="+names, fmt.Sprint("EVENTS=", enough))
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		opened.Add(1)
		running.Go(func() {
			line := make([]byte, len("ready\n"))
			_, err := io.ReadFull(out, line)
			opened.Done()
			opened.Wait()
			in.Close()
			for _, failure := range acks(out, func(a ack) { mu.Lock(); acked = append(acked, a); mu.Unlock() }) {
				t.Errorf("a child failed: %s", failure)
			}
			if err := errors.Join(err, c.Wait()); err != nil {
				t.Errorf("a child that said %q: %v", line, err)
			}
		})
		for name := range strings.FieldsSeq(names) {
			following.Go(func() {
				for e, err := range r.Follow(ctx, name, log.Pos{}) {
					if err != nil {
						t.Error(err)
						return
					}
					if e.Seq == enough {
						return
					}
				}
				t.Errorf("room %s did not come to event %d", name, enough)
			})
		}
	}
	running.Wait()
	if t.Failed() {
		cancel() // not all events are there to follow
	}
	following.Wait()
	holds(t, r, acked)
	t.Logf("%d events acknowledged", len(acked))
}

// TestOpenAtOnce checks that concurrent calls of Open create one log.
func TestOpenAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	logs := make([]*sqlite.DB, 8)
	for i := range logs {
		wg.Go(func() {
			d, err := sqlite.Open(sqlite.Config{Dir: dir})
			if err != nil {
				t.Error(err)
				return
			}
			logs[i] = d
			name := fmt.Sprint("room", i)
			if _, _, err := d.Append(t.Context(), name, log.Pos{}, time.Time{}, logtest.Event("1", name)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, d := range logs {
		if d == nil {
			continue
		}
		if infos, err := d.Rooms(t.Context()); err != nil || len(infos) != len(logs) {
			t.Errorf("handle %d sees %d rooms, %v", i, len(infos), err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
