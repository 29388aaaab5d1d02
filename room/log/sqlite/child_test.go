package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// The test binary runs itself as another process of the same log: childRole
// says what it does there, childDir in which folder.
const (
	childRole = "MOOT_LOG_TEST_CHILD"
	childDir  = "MOOT_LOG_TEST_DIR"
)

// Roles of a child: append to rooms until killed, append a few times and say
// how it went, hold a room's lock until its input ends, or look for its input
// in the files. One that appends until killed ends earlier if $EVENTS says how
// many events a room gets; it then begins when its input ends. $PAGES is
// [sqlite.Config.Pages].
const (
	roleAppend = "append"
	roleSome   = "some"
	roleHold   = "hold"
	roleGrep   = "grep"
)

// childRooms are the rooms that an appending child writes to; $ROOMS names
// others.
var childRooms = []string{"red", "green", "blue"}

func child(role string) int {
	if role == roleGrep {
		grep(os.Getenv(childDir))
		return 0
	}
	pages, _ := strconv.Atoi(os.Getenv("PAGES"))
	d, err := sqlite.Open(sqlite.Config{Dir: os.Getenv(childDir), Pages: pages})
	if err != nil {
		fmt.Println("failed", code(err))
		return 1
	}
	defer d.Close()
	rooms := childRooms
	if names := os.Getenv("ROOMS"); names != "" {
		rooms = strings.Fields(names)
	}
	switch role {
	case roleHold:
		if _, err := d.Lock(context.Background(), rooms[0]); err != nil {
			fmt.Println("failed", code(err))
			return 1
		}
		fmt.Println("held")
		io.Copy(io.Discard, os.Stdin)
	case roleCharge:
		chargeUntilKilled(d)
	case roleSome:
		appendSome(d, rooms[0], 12)
	case roleAppend:
		limit, err := strconv.ParseUint(os.Getenv("EVENTS"), 10, 64)
		if err != nil {
			limit = math.MaxUint64
		} else {
			fmt.Println("ready")
			io.Copy(io.Discard, os.Stdin)
		}
		var wg sync.WaitGroup
		for _, name := range rooms {
			wg.Go(func() { appendUpTo(d, name, limit) })
		}
		wg.Wait()
	}
	return 0
}

// grep prints the files of a log that hold what is on standard input.
func grep(dir string) {
	text, err := io.ReadAll(os.Stdin)
	if err != nil || len(text) == 0 {
		return
	}
	names, _ := filepath.Glob(filepath.Join(dir, sqlite.FileName+"*"))
	for _, name := range names {
		if b, err := os.ReadFile(name); err == nil && bytes.Contains(b, text) {
			fmt.Println("found", name)
		}
	}
}

// appendUpTo appends events, one, two or three at a time, until a room has at least
// limit of them, and prints a line for each that is acknowledged.
func appendUpTo(d *sqlite.DB, name string, limit uint64) {
	if _, err := d.Lock(context.Background(), name); err != nil {
		fmt.Println("failed", code(err))
		return
	}
	at, err := d.Tail(context.Background(), name)
	for n := 0; err == nil && at.Seq < limit; n++ {
		events := make([]room.Event, 1+n%3)
		for i := range events {
			events[i] = logtest.Event(fmt.Sprintf("%d.%d.%d", os.Getpid(), n, i), strings.Repeat("x", n*37%3000))
		}
		last, _, aerr := d.Append(context.Background(), name, at, time.Time{}, events...)
		for errors.Is(aerr, log.ErrBusy) { // the other process is faster
			last, _, aerr = d.Append(context.Background(), name, at, time.Time{}, events...)
		}
		if at, err = last, aerr; err != nil {
			break
		}
		lines := ""
		for i, e := range events {
			lines += fmt.Sprintln("ack", name, at.Seq-uint64(len(events)-1-i), e.ID)
		}
		os.Stdout.WriteString(lines)
	}
	if err != nil {
		fmt.Println("failed", code(err))
	}
}

// appendSome appends n times, goes on after a failure, and prints what it got.
func appendSome(d *sqlite.DB, name string, n int) {
	ctx := context.Background()
	for range n {
		at, err := d.Tail(ctx, name)
		if err == nil {
			id := fmt.Sprintf("%d.%d", os.Getpid(), at.Seq)
			if at, _, err = d.Append(ctx, name, at, time.Time{}, logtest.Event(id, strings.Repeat("y", 5000))); err == nil {
				fmt.Println("ack", name, at.Seq, id)
				continue
			}
		}
		fmt.Println("failed", code(err))
	}
}

// code returns an error's stable code, and whether the handle has failed for good.
func code(err error) string {
	text := "NONE"
	if c, ok := errors.AsType[*problem.Error](err); ok {
		text = c.Code
	}
	if errors.Is(err, log.ErrFailed) {
		text += " handle-failed"
	}
	return text
}

// command prepares a child; before is what it is run under, such as strace.
func command(t testing.TB, dir, role string, before ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append(before, self, "-test.run=^$")
	c := exec.Command(args[0], args[1:]...)
	c.Env = append(os.Environ(), childRole+"="+role, childDir+"="+dir)
	c.Stderr = os.Stderr
	return c
}

// An ack is an event that a child was told is stored.
type ack struct {
	room string
	seq  uint64
	id   string
}

// acks reads a child's lines, calls each for every acknowledged event, and
// returns the failures that the child named. The last line of a child that was
// killed may be cut.
func acks(r io.Reader, each func(ack)) (failures []string) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return failures
		}
		var a ack
		if _, err := fmt.Sscanln(line, new(string), &a.room, &a.seq, &a.id); err == nil && strings.HasPrefix(line, "ack ") {
			each(a)
		} else if failure, ok := strings.CutPrefix(line, "failed "); ok {
			failures = append(failures, strings.TrimSpace(failure))
		}
	}
}

// holds checks that a log has every acknowledged event at its place, and that
// every room is one whole chain.
func holds(t testing.TB, d log.Log, acked []ack) {
	t.Helper()
	infos, err := d.Rooms(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := map[ack]bool{}
	for _, info := range infos {
		n := uint64(0)
		for e, err := range log.Scan(t.Context(), d, info.Room, log.Pos{}) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; e.Seq != n {
				t.Fatalf("room %s: event %d follows %d", info.Room, e.Seq, n-1)
			}
			at[ack{info.Room, e.Seq, e.Event.ID}] = true
		}
		if n != info.Last {
			t.Fatalf("room %s has %d events, its index says %d", info.Room, n, info.Last)
		}
	}
	lost := 0
	for _, a := range acked {
		if !at[a] {
			lost++
		}
	}
	if lost > 0 {
		t.Fatalf("%d of %d acknowledged events are lost", lost, len(acked))
	}
}

// lacking skips a test that needs a missing tool, and fails it in CI.
func lacking(t testing.TB, sentence string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(sentence)
	}
	t.Skip(sentence)
}
