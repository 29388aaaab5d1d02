package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/local"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// A fakeServer has one room with events that say their number. It cuts the
// connections of its streams after some lines.
type fakeServer struct {
	mu    sync.Mutex
	tail  int64 // of the log
	phase room.Phase
	cut   int            // lines that a stream delivers until it is cut; 0 is all
	done  map[string]int // how often each command was carried out
	lose  int            // answers to commands that are lost
	web   *httptest.Server
}

func newFakeServer(t *testing.T) *fakeServer {
	s := &fakeServer{phase: room.PhaseLive, done: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/rooms/{room}", s.show)
	mux.HandleFunc("GET /api/rooms/{room}/events", s.events)
	mux.HandleFunc("POST /api/rooms/{room}/commands", s.command)
	s.web = httptest.NewServer(mux)
	t.Cleanup(s.web.Close)
	return s
}

func (s *fakeServer) client() *Client { return New(Config{URL: s.web.URL}) }

func (s *fakeServer) show(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.PathValue("room") != "r_1" {
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(api.Problem{Code: "ROOM-UNKNOWN", Detail: "no room r_2", Where: "here", Fix: "`moot ls`"})
		return
	}
	_ = json.NewEncoder(w).Encode(api.ShownOf(room.View{Room: "r_1", Seq: s.tail, Phase: s.phase}, room.PolicyRef{}))
}

// events delivers the events after the one that is asked for. It ends the stream if
// the room is at rest, else it cuts it.
func (s *fakeServer) events(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	s.mu.Lock()
	s.tail = max(s.tail, after+1) // something happens while nobody watches
	first, last, cut, phase := max(0, after-1), s.tail, s.cut, s.phase
	s.mu.Unlock()
	sent := 0
	for seq := first + 1; seq <= last; seq++ { // one that the client has, too
		line, _ := room.MarshalEvent(room.Event{V: 1, Seq: seq, Actor: "host", Body: room.Paused{Reason: fmt.Sprint(seq)}})
		fmt.Fprintf(w, "\n{\"event\":%s}\n", line)
		if sent++; sent == cut {
			break
		}
	}
	if phase == room.PhaseLive || sent == cut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

func (s *fakeServer) command(w http.ResponseWriter, r *http.Request) {
	var c api.Command
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
		panic(err)
	}
	s.mu.Lock()
	s.done[c.ID]++
	s.lose--
	lost := s.lose >= 0
	s.mu.Unlock()
	if lost {
		panic(http.ErrAbortHandler)
	}
	done, _ := api.DoneOf([]room.Event{{V: 1, Seq: 1, Actor: c.As, Command: c.ID, Body: room.Paused{Reason: c.Reason}}})
	_ = json.NewEncoder(w).Encode(done)
}

// TestResume checks that a watch of a server that breaks every connection yields
// each event once and in order, and ends with the room.
func TestResume(t *testing.T) {
	s := newFakeServer(t)
	s.tail, s.cut = 3, 3
	r, err := s.client().Room(t.Context(), "r_1")
	if err != nil {
		t.Fatal(err)
	}
	breaks := 0
	r.Lost = func(error) { breaks++ }
	var got []int64
	for u, err := range r.Watch(t.Context(), 0, room.Internal) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, u.Event.Seq)
		if v := r.View(); v.Seq < u.Event.Seq {
			t.Errorf("at event %d the view is that of event %d", u.Event.Seq, v.Seq)
		}
		if len(got) == 8 {
			s.mu.Lock()
			s.phase, s.cut = room.PhaseCompleted, 0
			s.mu.Unlock()
		}
	}
	if want := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}; !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	if breaks == 0 {
		t.Error("a break was not reported")
	}
}

// TestWatchEnds checks that a watch ends when its consumer or its context does.
func TestWatchEnds(t *testing.T) {
	s := newFakeServer(t)
	s.tail = 2
	r, err := s.client().Room(t.Context(), "r_1")
	if err != nil {
		t.Fatal(err)
	}
	for range r.Watch(t.Context(), 0, room.Internal) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range r.Watch(ctx, 0, room.Internal) {
		if err != nil {
			t.Error(err)
		}
		cancel()
	}
}

// TestLostAnswer checks that a command whose answer is lost is sent again with the
// same id.
func TestLostAnswer(t *testing.T) {
	s := newFakeServer(t)
	s.lose = 2
	r, err := s.client().Room(t.Context(), "r_1")
	if err != nil {
		t.Fatal(err)
	}
	events, err := r.Do(t.Context(), room.Command{Actor: "ann", Do: room.Pause{Reason: "lunch"}})
	if err != nil || len(events) != 1 || events[0].Actor != "ann" {
		t.Fatalf("events %+v, error %v", events, err)
	}
	if len(s.done) != 1 || s.done[events[0].Command] != 3 {
		t.Errorf("commands %v, want one, three times", s.done)
	}
}

// TestProblems checks that the problem of a server is the error that it had, and
// that one which cannot be reached is reported at once.
func TestProblems(t *testing.T) {
	s := newFakeServer(t)
	_, err := s.client().Room(t.Context(), "r_2")
	p, ok := errors.AsType[*problem.Error](err)
	if !ok || p.Code != "ROOM-UNKNOWN" || p.What != "no room r_2" || p.Where != "here" || p.Fix != "`moot ls`" {
		t.Errorf("error %+v", err)
	}
	dialed := 0
	none := Local("", func(context.Context) (net.Conn, error) {
		dialed++
		return nil, &problem.Error{Code: "ROOM-IDLE", What: "no process", Kind: local.ErrNone}
	})
	_, err = none.Do(t.Context(), "r_1", api.Command{Do: "pause"})
	if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != "ROOM-IDLE" || dialed != 1 {
		t.Errorf("dialed %d times, error %+v", dialed, err)
	}
	if err := New(Config{URL: "http://127.0.0.1:1"}).Call(t.Context(), http.MethodGet, "/healthz", nil, nil); !isLost(err) || !neverSent(err) {
		t.Errorf("a port on which no server listens: %v", err)
	}
}

// TestSilence checks that a stream without a line for too long counts as broken.
func TestSilence(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errSilent)
	if err := silent(ctx, ctx.Err()); !isLost(err) {
		t.Errorf("silence: %v", err)
	}
}

// FuzzLine checks that no line of a server makes a watch panic, and that an event is
// yielded at most once.
func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"event":{"v":1,"seq":2,"type":"room.paused","actor":"host","epoch":1,"at":"2026-01-01T00:00:00Z","body":{}}}`))
	f.Add([]byte(`{"live":{"participant":"a","delta":"text"}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var at int64
		r := &Room{id: "r_1", view: room.View{Seq: 1 << 62}}
		w := watch{room: r, level: room.Internal}
		w.yield = func(u coordinator.Update, err error) bool {
			if err != nil || u.Event != nil && u.Event.Seq <= at {
				t.Errorf("update %+v, error %v", u, err)
			}
			if u.Event != nil {
				at = u.Event.Seq
			}
			return true
		}
		for range 2 {
			_ = w.line(context.Background(), line)
		}
	})
}

// TestServerRests checks that a watch ends when its server has ended with the room at
// rest and no other process runs the room, and that it reports a stream that failed.
func TestServerRests(t *testing.T) {
	end := api.End{Code: api.EndServer}
	s := newFakeServer(t)
	s.phase = room.PhasePaused
	dialed := 0
	c := Local("", func(ctx context.Context) (net.Conn, error) {
		if dialed++; dialed > 1 {
			return nil, &problem.Error{Code: "ROOM-IDLE", What: "no process", Kind: local.ErrNone}
		}
		var d net.Dialer
		return d.DialContext(ctx, "tcp", s.web.Listener.Addr().String())
	})
	r, err := c.Room(t.Context(), "r_1")
	if err != nil {
		t.Fatal(err)
	}
	s.web.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		_ = json.NewEncoder(w).Encode(api.Update{End: &end})
	})
	for _, err := range r.Watch(t.Context(), 0, room.Internal) {
		t.Errorf("the watch yields %v", err)
	}
	dialed, end = 0, api.End{Code: api.EndFailed, Problem: &api.Problem{Code: "LOG-CORRUPT", Detail: "damaged"}}
	failed := ""
	for _, err := range r.Watch(t.Context(), 0, room.Internal) {
		if p, ok := errors.AsType[*problem.Error](err); ok {
			failed = p.Code
		}
	}
	if failed != "LOG-CORRUPT" {
		t.Errorf("a stream that failed is reported as %q", failed)
	}
}

// TestServerHasLeftRoom checks that a watch yields the pause of a room whose process
// says, by the time the event arrives, that it no longer runs the room.
func TestServerHasLeftRoom(t *testing.T) {
	s := newFakeServer(t)
	c := Local("", func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", s.web.Listener.Addr().String())
	})
	r, err := c.Room(t.Context(), "r_1")
	if err != nil {
		t.Fatal(err)
	}
	s.web.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if !strings.HasSuffix(q.URL.Path, "/events") || q.URL.Query().Get("after") != "0" {
			w.WriteHeader(http.StatusConflict)
			_ = json.NewEncoder(w).Encode(api.Problem{Code: "ROOM-IDLE", Detail: "no process runs the room"})
			return
		}
		line, _ := room.MarshalEvent(room.Event{V: 1, Seq: 1, Actor: "host", Body: room.Paused{Reason: "the process ended"}})
		fmt.Fprintf(w, "{\"event\":%s}\n", line)
		_ = json.NewEncoder(w).Encode(api.Update{End: &api.End{Code: api.EndServer}})
	})
	paused := 0
	for u, err := range r.Watch(t.Context(), 0, room.Internal) {
		if err != nil {
			t.Fatal(err)
		}
		if u.Event.Seq == 1 {
			paused++
		}
	}
	if paused != 1 || r.View().Phase != room.PhasePaused {
		t.Errorf("the pause was yielded %d times, and the room is %s", paused, r.View().Phase)
	}
}
