package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/local"
	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/problem"
)

// A Placement tells where requests about a room are answered: by this server if the
// connection is nil, else by the process at its other end.
type Placement func(ctx context.Context, room string) (net.Conn, error)

// OnlyRunning is the Placement of a process that runs some rooms and then ends: it
// refuses all others of its data folder.
func OnlyRunning(h *moot.Host) Placement {
	return func(_ context.Context, room string) (net.Conn, error) {
		if h.Running(room) || h.HoldsSeatOf(room) {
			return nil, nil
		}
		return nil, &problem.Error{Code: "ROOM-IDLE", What: "no process runs the room", Where: "room " + room, Fix: "`moot run --room " + room + "` runs it, and `moot serve` runs all rooms"}
	}
}

// Limits of the wait for a process that holds a room and does not listen: it has just
// begun, or is about to end.
const (
	holderWait  = time.Second
	holderRetry = 20 * time.Millisecond
)

// AllRooms is the Placement of the server of a data folder. It answers requests about
// every room that no other process holds, which takes the room over. Those about a
// room of another device are answered by the process that is online.
func AllRooms(data string, h *moot.Host) Placement {
	online := DeviceElsewhere(data, h)
	return func(ctx context.Context, room string) (net.Conn, error) {
		if h.HoldsSeatOf(room) {
			return online(ctx)
		}
		for end := time.Now().Add(holderWait); ; {
			pid := h.Holder(room)
			if pid == 0 || pid == os.Getpid() || h.Running(room) {
				return nil, nil
			}
			c, err := dialProcess(ctx, data, pid)
			if !errors.Is(err, local.ErrNone) {
				return c, err
			}
			if time.Now().After(end) {
				return nil, nil // opening the room says who holds it
			}
			select {
			case <-time.After(holderRetry):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
}

// maxHops is how often a request is forwarded between nodes whose registries differ. Then it is answered
// where it is, and the lock of the room decides.
const maxHops = 3

// AcrossNodes is the Placement of a node: find connects to the node that runs a room, or is to
// run it. Rooms of this machine that no node runs are those of local.
func AcrossNodes(h *moot.Host, local, find Placement) Placement {
	return func(ctx context.Context, room string) (net.Conn, error) {
		if h.Running(room) || hopsOf(ctx) >= maxHops {
			return nil, nil
		}
		if h.HoldsSeatOf(room) {
			return local(ctx, room)
		}
		if c, err := find(ctx, room); c != nil || err != nil {
			return c, err
		}
		return local(ctx, room)
	}
}

// DeviceAcrossNodes tells where a node has requests about its device toward other owners answered:
// by the node to which find connects, or else as local says.
func DeviceAcrossNodes(local, find func(context.Context) (net.Conn, error)) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		if hopsOf(ctx) < maxHops {
			if c, err := find(ctx); c != nil || err != nil {
				return c, err
			}
		}
		return local(ctx)
	}
}

// hopsHeader counts how often a request was forwarded between nodes.
const hopsHeader = "Moot-Hops"

type hopsKey struct{}

func hopsOf(ctx context.Context) int {
	n, _ := ctx.Value(hopsKey{}).(int)
	return n
}

// NodeHandler serves requests of other nodes, which identify their callers as processes
// of this user do.
func (s *Server) NodeHandler() http.Handler {
	h := s.SocketHandler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hops, err := strconv.Atoi(r.Header.Get(hopsHeader))
		if err != nil || hops < 0 {
			hops = maxHops
		}
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), hopsKey{}, hops)))
	})
}

// follow answers a request, and forwards it if the room has moved to another node before
// the request was carried out, or if the node that is online as this device makes the room.
func (s *Server) follow(w http.ResponseWriter, r *http.Request, handle http.HandlerFunc) {
	room := s.roomOf(r)
	if s.cfg.Placement == nil || room == "" && r.URL.Path != roomsPath || r.Method == http.MethodGet {
		handle(w, r)
		return
	}
	forwarded := func() bool { return s.forwarded(w, r, room) }
	if room == "" {
		forwarded = func() bool { return s.forwardedToDevice(w, r) }
	}
	body, err := io.ReadAll(r.Body) // it is in memory; see access.ReadBody
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	for range maxMoves {
		r.Body = io.NopCloser(bytes.NewReader(body))
		m := &moveWriter{ResponseWriter: w}
		if handle(m, r); !m.moved {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if forwarded() {
			return
		}
	}
	s.refuse(w, r, &problem.Error{Code: "ROOM-MOVED", What: "the room moves between nodes", Where: "room " + room, Fix: "send the request again; a command with the same id is carried out once"})
}

// roomsPath is the path of the requests that make rooms.
const roomsPath = "/api/rooms"

// roomOf returns the room of a request, "" for none. A node also reads it from a request to
// run a stored room.
func (s *Server) roomOf(r *http.Request) string {
	id := r.PathValue("room")
	if id != "" || s.cfg.NodeOf == nil || r.Method != http.MethodPost || r.URL.Path != roomsPath {
		return id
	}
	body, err := io.ReadAll(r.Body) // it is in memory; see access.ReadBody
	r.Body = io.NopCloser(bytes.NewReader(body))
	var q struct {
		Room string `json:"room"`
	}
	if err != nil || json.Unmarshal(body, &q) != nil {
		return "" // the handler says what is wrong
	}
	return q.Room
}

// maxMoves is how often a request follows a room that moves back and forth.
const maxMoves = 20

// A moveWriter drops the answer that the room has moved.
type moveWriter struct {
	http.ResponseWriter
	moved bool
}

func (m *moveWriter) WriteHeader(status int) {
	if m.moved = status == http.StatusMisdirectedRequest; m.moved {
		clear(m.Header())
		return
	}
	m.ResponseWriter.WriteHeader(status)
}

func (m *moveWriter) Write(b []byte) (int, error) {
	if m.moved {
		return len(b), nil
	}
	return m.ResponseWriter.Write(b)
}

// Unwrap lets an [http.ResponseController] find the connection.
func (m *moveWriter) Unwrap() http.ResponseWriter { return m.ResponseWriter }

func dialProcess(ctx context.Context, data string, pid int) (net.Conn, error) {
	s, err := local.FindProcess(data, pid)
	if err != nil {
		return nil, err
	}
	return s.Dial(ctx)
}

// forwarded answers a request about a room that another process runs, and reports
// whether it did. The caller may use the route.
func (s *Server) forwarded(w http.ResponseWriter, r *http.Request, room string) bool {
	if s.cfg.Placement == nil || room == "" {
		return false
	}
	c, err := s.cfg.Placement(r.Context(), room)
	if err != nil {
		s.refuse(w, r, err)
		return true
	}
	if c == nil {
		return false
	}
	s.forward(w, r, c)
	return true
}

// DeviceElsewhere tells where requests about this device toward other owners are
// answered: in the process that is online, if it listens, else here.
func DeviceElsewhere(data string, h *moot.Host) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		pid := h.DeviceHolder()
		if pid == 0 {
			return nil, nil
		}
		c, err := dialProcess(ctx, data, pid)
		if errors.Is(err, local.ErrNone) {
			return nil, nil // going online says which process prevents it
		}
		return c, err
	}
}

// forwardedToDevice answers a request in the process that is online, and reports
// whether it did. The caller may use the route.
func (s *Server) forwardedToDevice(w http.ResponseWriter, r *http.Request) bool {
	if s.cfg.Device == nil {
		return false
	}
	c, err := s.cfg.Device(r.Context())
	if err != nil {
		s.fail(w, err)
		return true
	}
	if c == nil {
		return false
	}
	s.forward(w, r, c)
	return true
}

// forward sends a request on c, as a request of its caller, and copies the answer.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, c net.Conn) {
	defer c.Close()
	once := make(chan net.Conn, 1)
	once <- c
	t := &http.Transport{
		DisableKeepAlives: true, DisableCompression: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			select {
			case c := <-once:
				return c, nil
			default:
				return nil, net.ErrClosed // the request is not sent twice
			}
		},
	}
	defer t.CloseIdleConnections()
	proxy := httputil.ReverseProxy{
		Transport: t, FlushInterval: -1, ErrorLog: slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug),
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: "moot"})
			for _, name := range []string{"Authorization", "Cookie", "Origin", "Referer"} { // they have been checked
				p.Out.Header.Del(name)
			}
			p.Out.Header.Set(callerHeader, CallerOf(r.Context()).header())
			p.Out.Header.Set(hopsHeader, strconv.Itoa(hopsOf(r.Context())+1))
		},
		ModifyResponse: func(resp *http.Response) error {
			for name := range resp.Header {
				w.Header().Del(name) // both servers set some
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			s.fail(w, &problem.Error{
				Code: "SERVER-GONE", What: "the process that had to answer has ended", Where: r.Method + " " + r.URL.Path,
				Fix: "send the request again; a command with the same id is carried out once", Err: err,
			})
		},
	}
	proxy.ServeHTTP(w, r)
}

// callerHeader names the caller of a forwarded request. It is believed on the socket
// of this user only, where everybody is the user.
const callerHeader = "Moot-Caller"

// maxCaller is the longest value of the header.
const maxCaller = 4 << 10

func (c Caller) header() string {
	b, err := json.Marshal(c)
	if err != nil {
		panic("server: " + err.Error()) // strings and a number
	}
	return string(b)
}

// forwardedCaller returns who sent a request that another process of this user has
// forwarded.
func forwardedCaller(r *http.Request) (c Caller, ok bool, err error) {
	values := r.Header.Values(callerHeader)
	if len(values) == 0 {
		return c, false, nil
	}
	if len(values) > 1 || len(values[0]) > maxCaller {
		return c, false, badCaller(errors.New("one header of at most 4 KiB is allowed"))
	}
	if err := strict.Decode([]byte(values[0]), maxDepth, &c); err != nil {
		return Caller{}, false, badCaller(err)
	}
	if c.Scope < Nobody || c.Scope > Admin {
		return Caller{}, false, badCaller(fmt.Errorf("scope %d", c.Scope))
	}
	return c, true, nil
}

func badCaller(err error) error {
	return &problem.Error{Code: "API-REQUEST", What: "the header " + callerHeader + " cannot be read", Fix: "leave it out", Err: err}
}
