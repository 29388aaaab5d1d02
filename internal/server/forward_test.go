package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// A pair is a server that forwards requests about the room "far" to another one, as
// two processes do.
type pair struct {
	near, far *Server
	web       *httptest.Server // the near one
	asked     chan Caller      // who asked the far one
}

func newPair(t *testing.T, caller Caller) *pair {
	t.Helper()
	p := &pair{asked: make(chan Caller, 1)}
	p.far = New(Config{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- p.far.Serve(ctx, l, p.far.SocketHandler()) }()
	p.near = New(Config{Placement: func(ctx context.Context, room string) (net.Conn, error) {
		switch room {
		case "far":
			return (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
		case "gone":
			return nil, errors.New("no process")
		}
		return nil, nil
	}})
	for _, s := range []*Server{p.near, p.far} {
		s.raw(Talk, http.MethodPost, "/api/rooms/{room}/echo", "echo", func(w http.ResponseWriter, r *http.Request) {
			if s == p.far {
				p.asked <- CallerOf(r.Context())
			}
			for _, name := range []string{"Authorization", "Cookie", "Origin"} {
				if s == p.far && r.Header.Get(name) != "" {
					t.Errorf("%s was forwarded", name)
				}
			}
			_, _ = io.Copy(w, r.Body)
		})
		s.raw(Read, http.MethodGet, "/api/rooms/{room}/lines", "lines", func(w http.ResponseWriter, r *http.Request) {
			for n := range 3 {
				fmt.Fprintln(w, n)
				_ = http.NewResponseController(w).Flush()
			}
			if r.URL.Query().Get("cut") != "" {
				panic(http.ErrAbortHandler)
			}
			<-r.Context().Done() // a stream ends with its reader or the server
		})
		s.raw(Read, http.MethodGet, "/api/rooms/{room}/socket", "socket", func(w http.ResponseWriter, r *http.Request) {
			c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
			if err != nil {
				return
			}
			defer c.Close()
			kind, b, err := c.ReadMessage()
			if err == nil {
				_ = c.WriteMessage(kind, b)
			}
		})
	}
	p.web = httptest.NewServer(p.near.Handler(func(r *http.Request) (Caller, error) { return caller, nil }))
	t.Cleanup(func() {
		p.web.Close()
		end()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *pair) post(t *testing.T, room, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.web.URL+"/api/rooms/"+room+"/echo", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Authorization": "Bearer x", "Cookie": "moot=x", "Origin": p.web.URL, callerHeader: `{"Name":"forged","Scope":"admin"}`} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// TestForward: a request about a room of another process is answered there, as the
// same caller, who may forge nothing.
func TestForward(t *testing.T) {
	caller := Caller{Name: "token t_1", Scope: Talk, Room: "far", Seat: "ann", Via: "http"}
	p := newPair(t, caller)
	if status, body := p.post(t, "far", `"hello"`); status != http.StatusOK || body != `"hello"` {
		t.Errorf("%d %s", status, body)
	}
	select {
	case got := <-p.asked:
		if got != caller {
			t.Errorf("forwarded as %+v, want %+v", got, caller)
		}
	default:
		t.Error("the request was not forwarded")
	}
	if status, _ := p.post(t, "near", `"hello"`); status != http.StatusForbidden {
		t.Errorf("a room that is not the caller's: %d", status)
	}
	p = newPair(t, Caller{Name: "reader", Scope: Read})
	if status, body := p.post(t, "far", `"hello"`); status != http.StatusForbidden || len(p.asked) != 0 {
		t.Errorf("forwarded without the scope: %d %s", status, body)
	}
	p = newPair(t, Caller{Name: "admin", Scope: Admin})
	if status, body := p.post(t, "near", `"hello"`); status != http.StatusOK || body != `"hello"` {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := p.post(t, "gone", `"hello"`); status != http.StatusInternalServerError {
		t.Errorf("a process that cannot be reached: %d", status)
	}
}

// TestForwardStream: lines arrive one by one, and a stream that breaks is not one
// that has ended.
func TestForwardStream(t *testing.T) {
	p := newPair(t, Caller{Name: "reader", Scope: Read})
	for _, query := range []string{"", "?cut=1"} {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.web.URL+"/api/rooms/far/lines"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(resp.Body)
		for n := range 3 {
			if !lines.Scan() || lines.Text() != fmt.Sprint(n) {
				t.Fatalf("line %d is %q: %v", n, lines.Text(), lines.Err())
			}
		}
		if query != "" && (lines.Scan() || lines.Err() == nil) {
			t.Error("a stream that was cut looks complete")
		}
		cancel()
		resp.Body.Close()
	}
}

func TestForwardWebSocket(t *testing.T) {
	p := newPair(t, Caller{Name: "reader", Scope: Read})
	c, _, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(p.web.URL, "http")+"/api/rooms/far/socket", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.WriteMessage(websocket.TextMessage, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, b, err := c.ReadMessage(); err != nil || string(b) != "hello" {
		t.Errorf("%s, %v", b, err)
	}
}

// TestForwardedCaller: the header is strict, and only a socket believes it.
func TestForwardedCaller(t *testing.T) {
	for value, want := range map[string]string{
		"":                               "local user",
		`{"Name":"a","Scope":"talk"}`:    "a",
		`{"Name":"a","Scope":"all"}`:     "error",
		`{"Name":"a","Scope":3}`:         "error",
		`{"name":"a","Scope":"read"}`:    "error",
		`{"Name":"a","Scope":"read"} {}`: "error",
		`{"Name":"a","Admin":true}`:      "error",
		`x`:                              "error",
		strings.Repeat(" ", maxCaller) + `{"Name":"a","Scope":"read"}`: "error",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if value != "" {
			r.Header.Set(callerHeader, value)
		}
		c, err := identified(r)
		got := c.Name
		if err != nil {
			got = "error"
		}
		if got != want || err != nil && c.Scope != Nobody {
			t.Errorf("%.60q: %+v, %v", value, c, err)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Add(callerHeader, `{"Name":"a","Scope":"read"}`)
	r.Header.Add(callerHeader, `{"Name":"b","Scope":"admin"}`)
	if _, err := identified(r); err == nil {
		t.Error("two headers are believed")
	}
}

// identified returns whom the handler of a socket takes for the caller.
func identified(r *http.Request) (c Caller, err error) {
	if forwarded, ok, err := forwardedCaller(r); ok || err != nil {
		return forwarded, err
	}
	return LocalUser(r)
}

// FuzzForwardedCaller looks for values that panic, or that give more than they say.
func FuzzForwardedCaller(f *testing.F) {
	f.Add(`{"Name":"a","Scope":"talk","Room":"r","Seat":"s","Via":"http"}`)
	f.Fuzz(func(t *testing.T, value string) {
		r := &http.Request{Header: http.Header{callerHeader: {value}}}
		c, ok, err := forwardedCaller(r)
		if (ok == (err != nil)) || c.Scope < Nobody || c.Scope > Admin || err != nil && c != (Caller{}) {
			t.Errorf("%q: %+v, %v, %v", value, c, ok, err)
		}
	})
}
