package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Rooms are the rooms that run in this process.
type Rooms interface {
	// Movable lists the rooms that another node could run.
	Movable() []string
	// Release unloads a room between two turns, or when ctx ends. It returns the options
	// with which the room runs.
	Release(ctx context.Context, room string) (options []byte, err error)
	// Adopt opens a room that another node has released, with its options.
	Adopt(ctx context.Context, room string, options []byte) error
}

// A Mover hands over the rooms that belong to other nodes. Its zero value is not usable; see
// [Node.Mover].
type Mover struct {
	node  *Node
	rooms Rooms

	ctx       context.Context // of the moves: when it ends they interrupt turns
	interrupt context.CancelFunc

	mu     sync.Mutex
	moving map[string]bool
	moves  sync.WaitGroup
}

// Mover makes the Mover of rooms. The caller closes it.
func (n *Node) Mover(rooms Rooms) *Mover {
	m := &Mover{node: n, rooms: rooms, moving: map[string]bool{}}
	m.ctx, m.interrupt = context.WithCancel(context.Background())
	return m
}

// Close ends the moves that have begun, which interrupts turns. Neither Run nor Drain runs.
func (m *Mover) Close() {
	m.interrupt()
	m.moves.Wait()
}

// moveInterval is how often a Mover looks for rooms that belong elsewhere, such as new ones.
const moveInterval = time.Second

// Run begins to hand over rooms until ctx ends. A room waits for the end of its turn, after Run too.
func (m *Mover) Run(ctx context.Context) {
	ticker := time.NewTicker(moveInterval)
	defer ticker.Stop()
	for {
		changed := m.node.Changed()
		m.start("")
		select {
		case <-changed:
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// Drain hands over all rooms, each when its turn has ended or when ctx ends. It returns when
// no other node takes any that is left. A room of the device of this node is released also if no
// other node has the device: it goes on when one has come.
func (m *Mover) Drain(ctx context.Context) {
	defer context.AfterFunc(ctx, m.interrupt)()
	for ctx.Err() == nil {
		begun := m.start(m.node.Device()) // again for a room that was created meanwhile
		m.moves.Wait()
		if begun == 0 {
			return
		}
	}
}

// start begins to hand over each room that belongs to another node, and to release those of
// device for which there is none; "" is no device. It returns how many.
func (m *Mover) start(device string) (begun int) {
	for _, room := range m.rooms.Movable() {
		p, ok := m.node.Owner(room)
		waits := !ok && device != "" && m.node.deviceOf(room) == device
		if p.ID == m.node.id || !ok && !waits || !m.begin(room) {
			continue
		}
		begun++
		m.moves.Go(func() {
			defer m.end(room)
			if err := m.move(room); err != nil {
				m.node.cfg.Log.Warn("a room was not handed over", "room", room, "error", err)
			}
		})
	}
	return begun
}

func (m *Mover) begin(room string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.moving[room] {
		return false
	}
	m.moving[room] = true
	return true
}

func (m *Mover) end(room string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.moving, room)
}

// adoptTries is how many nodes are asked to open a room.
const adoptTries = 3

// move releases a room and has its owner open it. If no node does, the room is opened by
// the next request, or by its owner when the room has something to do.
func (m *Mover) move(room string) error {
	options, err := m.rooms.Release(m.ctx, room)
	if err != nil {
		return nil // it has ended meanwhile
	}
	ctx := context.WithoutCancel(m.ctx)
	for range adoptTries {
		p, ok := m.node.Owner(room)
		if !ok {
			return nil
		}
		if p.ID == m.node.id { // the owner has gone
			return m.rooms.Adopt(ctx, room, options)
		}
		if err = m.node.adopt(ctx, p, room, options); err == nil {
			return nil
		}
	}
	return err
}

// Limits of the request by which a node opens a room.
const (
	adoptPath    = "/node/adopt"
	adoptTimeout = 10 * time.Second
	adoptBytes   = 64 << 10
	adoptions    = 32 // at the same time
)

// adopt asks a node to open a room.
func (n *Node) adopt(ctx context.Context, p Peer, room string, options []byte) error {
	ctx, cancel := context.WithTimeout(ctx, adoptTimeout)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://node"+adoptPath+"?room="+url.QueryEscape(room), bytes.NewReader(options))
	if err != nil {
		return err
	}
	resp, err := n.client(p).Do(q)
	if err != nil {
		return unreachable(p, err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)); resp.StatusCode != http.StatusNoContent {
		return unreachable(p, fmt.Errorf("it does not open room %s: %s", room, text))
	}
	return nil
}

// client returns what sends requests to a node over connections that are kept.
func (n *Node) client(p Peer) *http.Client {
	n.mu.Lock()
	defer n.mu.Unlock()
	c, ok := n.clients[p.ID]
	if !ok {
		c = &http.Client{Transport: &http.Transport{
			DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return n.Dial(ctx, p) },
			MaxConnsPerHost: 8, MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute,
		}}
		n.clients[p.ID] = c
	}
	return c
}

// Handler serves other nodes: their requests to open rooms, and all others by next. The
// listener that it serves is that of [Node.Secure].
func (n *Node) Handler(rooms Rooms, next http.Handler) http.Handler {
	slots := make(chan struct{}, adoptions)
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+adoptPath, func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-r.Context().Done():
			return
		}
		options, err := io.ReadAll(http.MaxBytesReader(w, r.Body, adoptBytes))
		if err == nil {
			err = rooms.Adopt(context.WithoutCancel(r.Context()), r.URL.Query().Get("room"), options)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.Handle("/", next)
	return mux
}
