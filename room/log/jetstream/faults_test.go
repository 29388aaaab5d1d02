package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/jetstream"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/nats-io/nats.go"
)

// openTimed opens the log and gives up requests after the timeout.
func (s *servers) openTimed(t testing.TB, prefix string, timeout time.Duration) *jetstream.DB {
	t.Helper()
	s.openAs(t, prefix).Close() // makes the streams
	d, err := jetstream.Open(t.Context(), jetstream.Config{URL: s.url(), Prefix: prefix, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// A writer appends to one room until it is told to stop. It tries again what it
// does not know the outcome of, as coordinators do.
type writer struct {
	d    *jetstream.DB
	room string

	mu    sync.Mutex
	acked []room.Event
	at    log.Pos
	tries int // of which the outcome was not known
}

func (w *writer) run(ctx context.Context) error {
	for i := 0; ctx.Err() == nil; i++ {
		e := logtest.Event(fmt.Sprint(w.room, "-", i), "x")
		for ctx.Err() == nil {
			p, _, err := w.d.Append(ctx, w.room, w.at, time.Time{}, e)
			if err == nil {
				w.mu.Lock()
				w.acked, w.at = append(w.acked, e), p
				w.mu.Unlock()
				break
			}
			if !errors.Is(err, log.ErrUnknown) {
				return err
			}
			w.mu.Lock()
			w.tries++
			w.mu.Unlock()
			time.Sleep(10 * time.Millisecond) // the interval of its retries
		}
	}
	return nil
}

func (w *writer) count() (acked, tries int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.acked), w.tries
}

// A load is several writers.
type load struct {
	t       *testing.T
	writers []*writer
	end     context.CancelFunc
	all     sync.WaitGroup
}

func startLoad(t *testing.T, d *jetstream.DB, rooms int) *load {
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{t: t, end: cancel}
	for i := range rooms {
		w := &writer{d: d, room: fmt.Sprint("load", i)}
		l.writers = append(l.writers, w)
		l.all.Go(func() {
			if err := w.run(ctx); err != nil {
				t.Errorf("room %s: %v", w.room, err)
			}
		})
	}
	return l
}

// counts returns how many appends of each room were acknowledged, and how many outcomes were
// not known.
func (l *load) counts() (acked []int, tries int) {
	for _, w := range l.writers {
		n, k := w.count()
		acked, tries = append(acked, n), tries+k
	}
	return acked, tries
}

// progress waits until every room has more acknowledged appends than now.
func (l *load) progress(s *servers) {
	l.t.Helper()
	before, _ := l.counts()
	s.wait("appends in every room", func() bool {
		now, _ := l.counts()
		for i := range now {
			if now[i] <= before[i]+2 {
				return false
			}
		}
		return true
	})
}

// check ends the load, and finds every acknowledged event at its place in an intact chain.
func (l *load) check(d *jetstream.DB) {
	l.t.Helper()
	l.end()
	l.all.Wait()
	total := 0
	for _, w := range l.writers {
		if _, err := log.Verify(l.t.Context(), d, w.room, log.Mark{}); err != nil {
			l.t.Errorf("room %s: %v", w.room, err)
			continue
		}
		seen := map[string]uint64{}
		for e, err := range log.Scan(l.t.Context(), d, w.room, log.Pos{}) {
			if err != nil {
				l.t.Fatal(err)
			}
			if seen[e.Event.ID] != 0 {
				l.t.Errorf("room %s has event %s twice", w.room, e.Event.ID)
			}
			seen[e.Event.ID] = e.Seq
		}
		for i, e := range w.acked {
			if seen[e.ID] != uint64(i+1) {
				l.t.Errorf("room %s: the acknowledged event %s is at %d, want %d", w.room, e.ID, seen[e.ID], i+1)
			}
		}
		total += len(w.acked)
	}
	_, tries := l.counts()
	l.t.Logf("%d acknowledged, %d outcomes not known", total, tries)
}

// TestHistories checks histories of rooms while answers of the server are lost, and while it
// is stopped.
func TestHistories(t *testing.T) {
	s := startServers(t, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cut := logtest.Proxy(t, l, func() (net.Conn, error) { return net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.opts[0].Port)) })
	faults := 0
	logtest.RunHistories(t, logtest.HistoryEngine{
		Open: func(t testing.TB, dir string) log.Log {
			prefix := filepath.Base(filepath.Dir(dir)) // of the run
			s.openAs(t, prefix).Close()                // makes the streams
			return s.openAt(t, "nats://"+l.Addr().String(), prefix)
		},
		Fault: func(t testing.TB) {
			if faults++; faults%4 != 0 {
				cut.Store(true)
				return
			}
			s.stop(0)
			s.start(0)
		},
		Faults: 7,
	})
}

// TestHistoriesOfCluster checks histories of rooms while each of three servers is killed in
// turn.
func TestHistoriesOfCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("servers elect leaders for seconds")
	}
	s := startProcesses(t, 3)
	faults := 0
	logtest.RunHistories(t, logtest.HistoryEngine{
		Open: func(t testing.TB, dir string) log.Log { return s.openAs(t, filepath.Base(filepath.Dir(dir))) },
		Fault: func(testing.TB) {
			s.stop(faults % 3)
			s.start(faults % 3)
			faults++
		},
		Faults: 4,
	})
}

// TestServersKilled kills each of three servers in turn under load, and starts it again.
func TestServersKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("servers elect leaders for seconds")
	}
	s := startProcesses(t, 3)
	d := s.openTimed(t, "restart", 2*time.Second)
	l := startLoad(t, d, 4)
	l.progress(s)
	for i := range s.all {
		s.stop(i)
		l.progress(s)
		s.start(i)
		l.progress(s)
	}
	l.check(d)
}

// TestNoQuorum kills two of three servers: nothing is acknowledged until they are back.
func TestNoQuorum(t *testing.T) {
	if testing.Short() {
		t.Skip("servers elect leaders for seconds")
	}
	s := startProcesses(t, 3)
	d := s.openTimed(t, "quorum", time.Second)
	l := startLoad(t, d, 2)
	l.progress(s)
	s.stop(0)
	s.stop(1)
	at, err := d.Tail(t.Context(), "load0")
	if err == nil { // the last server may answer until it notices; an append may not succeed
		_, _, err = d.Append(t.Context(), "other", log.Pos{}, time.Time{}, logtest.Event("1", "x"))
		if !errors.Is(err, log.ErrUnknown) {
			t.Errorf("appending without a majority: %v, tail %v", err, at)
		}
	}
	before, tries := l.counts()
	s.wait("appends to fail", func() bool {
		_, now := l.counts()
		return now >= tries+4
	})
	after, _ := l.counts()
	for i := range after {
		if after[i] > before[i]+1 { // one may have been on its way
			t.Errorf("room %d: %d appends were acknowledged without a majority", i, after[i]-before[i])
		}
	}
	s.start(0)
	s.start(1)
	l.progress(s)
	l.check(d)
}

// TestLostStream deletes a stream below the log, as the servers themselves may do after
// they were killed (nats-server issue 6888): its rooms are damaged, not empty.
func TestLostStream(t *testing.T) {
	s := startServers(t, 1)
	d := s.openAs(t, "lost")
	defer d.Close()
	for i := range 8 { // some are in each of the streams
		if _, _, err := d.Append(t.Context(), fmt.Sprint("r", i), log.Pos{}, time.Time{}, logtest.Event("1", "x")); err != nil {
			t.Fatal(err)
		}
	}
	s.deleteStream("lost-room-0")
	wantLost := func(err error) {
		t.Helper()
		if !errors.Is(err, log.ErrCorrupt) {
			t.Errorf("after a stream was lost: %v", err)
		}
	}
	_, err := d.Rooms(t.Context())
	wantLost(err)
	_, err = jetstream.Open(t.Context(), jetstream.Config{URL: s.url(), Prefix: "lost"})
	wantLost(err)
	damaged := 0
	for i := range 8 {
		if _, err := d.Tail(t.Context(), fmt.Sprint("r", i)); err != nil {
			wantLost(err)
			damaged++
		}
	}
	if damaged == 0 || damaged == 8 {
		t.Errorf("%d of 8 rooms are damaged; the other stream is whole", damaged)
	}
}

// TestLostEnd removes the last messages of a room, and then all: the head shows it, also
// to a process that has not seen the room before.
func TestLostEnd(t *testing.T) {
	s := startServers(t, 1)
	d := s.openAs(t, "short")
	at := log.Pos{}
	for _, e := range logtest.Events("e", 3) {
		var err error
		if at, _, err = d.Append(t.Context(), "r", at, time.Time{}, e); err != nil {
			t.Fatal(err)
		}
	}
	d.Close() // writes the head
	s.request("$JS.API.STREAM.MSG.DELETE."+s.streamOf("short", "r"), fmt.Sprintf(`{"seq":%d}`, at.Tok))
	d = s.openAs(t, "short")
	_, err := d.Tail(t.Context(), "r")
	if !errors.Is(err, log.ErrShort) {
		t.Errorf("without the last event: %v", err)
	}
	entries, err := d.Read(t.Context(), "r", log.Pos{}, 0)
	if len(entries) != 2 || !errors.Is(err, log.ErrShort) {
		t.Errorf("reading gives %d events, %v", len(entries), err)
	}
	if _, _, err := d.Append(t.Context(), "r", entries[1].Pos, time.Time{}, logtest.Event("x", "x")); !errors.Is(err, log.ErrShort) {
		t.Errorf("appending: %v", err)
	}
	infos, err := d.Rooms(t.Context())
	if len(infos) != 1 || infos[0].Damage == nil || !errors.Is(err, log.ErrShort) {
		t.Errorf("the list of rooms is %+v, %v", infos, err)
	}
	d.Close()
	s.request("$JS.API.STREAM.PURGE."+s.streamOf("short", "r"), `{}`)
	d = s.openAs(t, "short")
	defer d.Close()
	if _, err := d.Read(t.Context(), "r", log.Pos{}, 0); !errors.Is(err, log.ErrShort) {
		t.Errorf("without any event: %v", err)
	}
}

// TestFlippedReplica changes a bit in the files of one of three servers (nats-server issue
// 7549). A reader gets the event from another server, or an error, and never other events.
func TestFlippedReplica(t *testing.T) {
	if testing.Short() {
		t.Skip("servers elect leaders for seconds")
	}
	s := startServers(t, 3)
	d := s.openAs(t, "flip")
	at := log.Pos{}
	for i := range 20 {
		p, _, err := d.Append(t.Context(), "r", at, time.Time{}, logtest.Event(fmt.Sprint(i), fmt.Sprintf("needle-%d-", i+1)))
		if err != nil {
			t.Fatal(err)
		}
		at = p
	}
	d.Close()
	s.stop(0)
	if s.flipFiles(0, []byte("needle-7-")) == 0 {
		t.Skip("the server has not stored the event yet")
	}
	s.start(0)
	d = s.openAs(t, "flip")
	defer d.Close()
	for range 20 { // any server may answer
		var entries []log.Entry
		s.wait("an answer", func() bool {
			var err error
			if entries, err = d.Read(t.Context(), "r", log.Pos{}, 0); err == nil && len(entries) != 20 {
				t.Fatalf("%d events and no error", len(entries))
			}
			return err == nil || errors.Is(err, log.ErrCorrupt)
		})
		if err := log.Check("r", 0, [32]byte{}, entries); err != nil {
			t.Fatal(err)
		}
	}
}

// request asks the servers something below the log.
func (s *servers) request(subject, data string) []byte {
	s.t.Helper()
	nc, err := nats.Connect(s.url())
	if err != nil {
		s.t.Fatal(err)
	}
	defer nc.Close()
	var answer *nats.Msg
	s.wait("an answer of the servers", func() bool { // they may elect a leader
		answer, err = nc.Request(subject, []byte(data), 5*time.Second)
		return err == nil
	})
	if strings.Contains(string(answer.Data), `"error"`) {
		s.t.Fatalf("%s: %s", subject, answer.Data)
	}
	return answer.Data
}

func (s *servers) deleteStream(name string) { s.request("$JS.API.STREAM.DELETE."+name, "") }

// streamOf returns the stream of a room.
func (s *servers) streamOf(prefix, room string) string {
	d := s.openAs(s.t, prefix)
	defer d.Close()
	return d.PlaceOf(room)
}
