package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room"
)

// flood yields events without an end, and live text before each, and then closes
// stopped.
func flood(stopped chan struct{}, yield func(moot.Update, error) bool) {
	defer close(stopped)
	for seq := int64(1); ; seq++ {
		e := room.Event{V: 1, Seq: seq, Actor: "a", Body: room.Paused{Reason: strings.Repeat("x", 32<<10)}}
		if !yield(moot.Update{Participant: "a", Delta: "live"}, nil) || !yield(moot.Update{Event: &e}, nil) {
			return
		}
	}
}

// flooded serves one stream of flood in which the first events were stored when it
// began.
func flooded(t *testing.T, stored int64) (url string, stopped chan struct{}) {
	stopped = make(chan struct{})
	s := &Server{cfg: Config{Log: slog.New(slog.DiscardHandler)}}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := subscription{tail: stored, updates: func(context.Context) iter.Seq2[moot.Update, error] {
			return func(yield func(moot.Update, error) bool) { flood(stopped, yield) }
		}}
		switch {
		case websocket.IsWebSocketUpgrade(r):
			s.serveWebSocket(w, r, q)
		default:
			s.stream(r.Context(), q, newHTTPWriter(w, r.Header.Get("Accept")))
		}
	}))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL, stopped
}

// slowLines reads a stream to its end, once stopped is closed.
func slowLines(t *testing.T, url string, stopped chan struct{}, form string) (lines []string, closed error) {
	t.Helper()
	if form == "" {
		ws, _, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(url, "http"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		<-stopped
		for {
			_, b, err := ws.ReadMessage()
			if err != nil {
				return lines, err
			}
			lines = append(lines, string(b))
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", form)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	<-stopped
	scan := bufio.NewScanner(resp.Body)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		if _, line, _ := strings.Cut(scan.Text(), "{"); line != "" {
			lines = append(lines, "{"+line)
		}
	}
	return lines, scan.Err()
}

// TestSlowReaders floods readers of all forms. Each gets the events that were stored
// and a queue of new ones without a gap, and is then told where to resume.
func TestSlowReaders(t *testing.T) {
	const stored = 10
	for _, form := range []string{typeLines, typeSSE, ""} {
		url, stopped := flooded(t, stored)
		lines, closed := slowLines(t, url, stopped, form)
		next, end := int64(1), api.End{}
		for _, line := range lines {
			var u api.Update
			if err := json.Unmarshal([]byte(line), &u); err != nil {
				t.Fatal(err)
			}
			switch {
			case u.End != nil:
				end = *u.End
			case u.Event != nil:
				e, err := room.UnmarshalEvent(u.Event)
				if err != nil || e.Seq != next {
					t.Fatalf("%q: event %d after %d: %v", form, e.Seq, next-1, err)
				}
				next++
			}
		}
		if end.Code != api.EndSlow || end.After != next-1 || next <= stored {
			t.Errorf("%q: %d events, then %+v", form, next-1, end)
		}
		if x, ok := errors.AsType[*websocket.CloseError](closed); form == "" && (!ok || x.Code != websocket.CloseTryAgainLater || !strings.Contains(x.Text, fmt.Sprintf("after=%d", end.After))) {
			t.Errorf("the WebSocket is closed with %v", closed)
		}
	}
}

// TestReaderLeaves checks that a stream ends with its reader.
func TestReaderLeaves(t *testing.T) {
	ended := make(chan struct{})
	s := &Server{cfg: Config{Log: slog.New(slog.DiscardHandler)}}
	wait := func(ctx context.Context) iter.Seq2[moot.Update, error] {
		return func(func(moot.Update, error) bool) { <-ctx.Done() }
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { ended <- struct{}{} }()
		if websocket.IsWebSocketUpgrade(r) {
			s.serveWebSocket(w, r, subscription{updates: wait})
			return
		}
		s.stream(r.Context(), subscription{updates: wait}, newHTTPWriter(w, typeLines))
	}))
	defer web.Close()
	resp, err := http.Get(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	<-ended
	ws, _, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(web.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	ws.Close()
	<-ended
}

// TestReadLimit checks that a WebSocket with a long message is closed.
func TestReadLimit(t *testing.T) {
	ended := make(chan struct{})
	s := &Server{cfg: Config{Log: slog.New(slog.DiscardHandler)}}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		s.serveWebSocket(w, r, subscription{updates: func(ctx context.Context) iter.Seq2[moot.Update, error] {
			return func(func(moot.Update, error) bool) { <-ctx.Done() }
		}})
	}))
	defer web.Close()
	ws, _, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(web.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	_ = ws.WriteMessage(websocket.TextMessage, make([]byte, 4*readLimit)) // the server may close it before the end
	<-ended
}

// TestAlive checks what says in each form that the server is there.
func TestAlive(t *testing.T) {
	for form, want := range map[string]string{typeLines: "\n", typeSSE: ":\n\n"} {
		w := httptest.NewRecorder()
		if err := newHTTPWriter(w, form).alive(); err != nil {
			t.Fatal(err)
		}
		if got, _ := io.ReadAll(w.Body); string(got) != want || w.Header().Get("Content-Type") != form+"; charset=utf-8" {
			t.Errorf("%s: %q as %s", form, got, w.Header().Get("Content-Type"))
		}
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := (&Server{}).upgrader().Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer ws.Close()
		c := &socketWriter{ws: ws, pinged: time.Now()}
		if err := c.alive(); err != nil || time.Since(c.pinged) > pingEvery {
			t.Error("a ping too early, or an error", err)
		}
		c.pinged = c.pinged.Add(-pingEvery)
		if err := c.alive(); err != nil {
			t.Error(err)
		}
		c.end(api.End{Code: api.EndRoom}, []byte("{}"))
	}))
	defer web.Close()
	ws, _, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(web.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	pings := 0
	ws.SetPingHandler(func(string) error { pings++; return nil })
	for err == nil {
		_, _, err = ws.ReadMessage()
	}
	if pings != 1 || !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		t.Errorf("%d pings, and %v", pings, err)
	}
}
