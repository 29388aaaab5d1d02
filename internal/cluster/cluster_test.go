package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/room/log"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A registry is that of a log on servers, in memory.
type registry struct {
	mu      sync.Mutex
	members map[string]string
	held    map[string]string // by room
}

// A handle is a process that uses the log of a registry.
type handle struct {
	*registry
	id string
}

func (h handle) Self() string { return h.id }

func (h handle) Announce(_ context.Context, info string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.members[h.id] = info
	return nil
}

func (h handle) Members(context.Context) (all []log.Member, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, info := range h.members {
		all = append(all, log.Member{ID: id, Info: info})
	}
	return all, nil
}

func (h handle) HeldBy(_ context.Context, room string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held[room], nil
}

func (r *registry) hold(room, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held[room] = id
}

func (r *registry) leave(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.members, id)
}

func newRegistry() *registry {
	return &registry{members: map[string]string{"a run": ""}, held: map[string]string{}} // moot run announces nothing
}

// A testRooms is the rooms of a node, each with the options with which it runs.
type testRooms struct {
	mu    sync.Mutex
	rooms map[string]string
	busy  chan struct{} // released when turns end; nil: no turn is in flight
	fail  error         // of Adopt
}

func (r *testRooms) Movable() (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.rooms {
		ids = append(ids, id)
	}
	return ids
}

func (r *testRooms) Release(ctx context.Context, room string) ([]byte, error) {
	if r.busy != nil {
		select {
		case <-r.busy:
		case <-ctx.Done():
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.rooms[room]
	delete(r.rooms, room)
	return []byte(o), nil
}

func (r *testRooms) Adopt(_ context.Context, room string, options []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail == nil {
		r.rooms[room] = string(options)
	}
	return r.fail
}

// A testNode is a node that answers with its id.
type testNode struct {
	*Node
	rooms *testRooms
	mover *Mover
}

// join adds a node that serves until the test ends.
func join(t *testing.T, r *registry, id string) *testNode {
	t.Helper()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n, err := Join(t.Context(), Config{Members: handle{r, id}, Address: l.Addr().String(), Interval: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	x := &testNode{Node: n, rooms: &testRooms{rooms: map[string]string{}}}
	x.mover = n.Mover(x.rooms)
	s := http.Server{ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), Handler: n.Handler(x.rooms, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, id) }))}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = s.Serve(n.Secure(l)) })
	running.Go(func() { n.Run(ctx, nil) })
	t.Cleanup(func() {
		x.mover.Close()
		s.Close()
		stop()
		running.Wait()
	})
	return x
}

// until waits for what other goroutines do.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not", what)
		}
	}
}

func rooms(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("r_%d", i)
	}
	return ids
}

// TestOwner checks that nodes get equal parts of the rooms, that a node that comes or goes
// moves its own part only, and that all nodes agree.
func TestOwner(t *testing.T) {
	at := func(self string, peers ...string) *Node {
		n := &Node{id: self, self: Peer{ID: self, Address: self + ":1"}}
		for _, p := range peers {
			n.peers = append(n.peers, Peer{ID: p, Address: p + ":1"})
		}
		return n
	}
	owners := func(n *Node) map[string]string {
		all := map[string]string{}
		for _, id := range rooms(10_000) {
			p, _ := n.Owner(id)
			all[id] = p.ID
		}
		return all
	}
	three := owners(at("a", "b", "c"))
	for _, c := range []struct {
		name     string
		now      map[string]string
		moves    int // at most, of 10,000
		only     string
		from, to bool // the rooms that move are those from only, or to only
	}{
		{"another node asks", owners(at("c", "a", "b")), 0, "", false, false},
		{"a node comes", owners(at("a", "b", "c", "d")), 2700, "d", false, true},
		{"a node goes", owners(at("a", "b")), 3600, "c", true, false},
		{"itself drains", owners(func() *Node { n := at("a", "b", "c"); n.self.Draining = true; return n }()), 3600, "a", true, false},
		{"another one drains", owners(func() *Node { n := at("a", "b", "c"); n.peers[1].Draining = true; return n }()), 3600, "c", true, false},
	} {
		moved := 0
		for id, was := range three {
			now := c.now[id]
			if now == was {
				continue
			}
			moved++
			if c.from && was != c.only || c.to && now != c.only {
				t.Errorf("%s: room %s moves from %s to %s", c.name, id, was, now)
			}
		}
		if moved > c.moves || c.moves > 0 && moved < c.moves/2 {
			t.Errorf("%s: %d of 10,000 rooms move, at most %d should", c.name, moved, c.moves)
		}
	}
	parts := map[string]int{}
	for _, p := range three {
		parts[p]++
	}
	for id, n := range parts {
		if n < 3000 || n > 3700 {
			t.Errorf("node %s has %d of 10,000 rooms", id, n)
		}
	}
	alone := at("a")
	alone.self.Draining = true
	if p, ok := alone.Owner("r_1"); ok {
		t.Errorf("a node that drains alone gives rooms to %v", p)
	}
	if n := at("b", "a2"); n.Owns("r_1") == at("a2", "b").Owns("r_1") {
		t.Error("two nodes own the room, or none")
	}
}

// ask sends a request by a connection and returns the answer.
func ask(c net.Conn) (string, error) {
	defer c.Close()
	q, err := http.NewRequest(http.MethodGet, "http://node/", nil)
	if err != nil {
		return "", err
	}
	tr := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return c, nil }, DisableKeepAlives: true}
	resp, err := tr.RoundTrip(q)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

// TestFind checks where requests go: to the holder, else to the owner, and nowhere else.
func TestFind(t *testing.T) {
	r := newRegistry()
	a, b := join(t, r, "a"), join(t, r, "b")
	until(t, "together", func() bool { return len(a.Peers()) == 1 && len(b.Peers()) == 1 })
	find := func(room string) string {
		t.Helper()
		c, err := a.Find(t.Context(), room)
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			return "here"
		}
		who, err := ask(c)
		if err != nil {
			t.Fatal(err)
		}
		return who
	}
	mine := slices.IndexFunc(rooms(100), a.Owns)
	theirs := slices.IndexFunc(rooms(100), b.Owns)
	all := rooms(100)
	if got := find(all[mine]); got != "here" {
		t.Errorf("its own room is at %s", got)
	}
	if got := find(all[theirs]); got != "b" {
		t.Errorf("the room of b is at %s", got)
	}
	r.hold(all[theirs], "a")
	r.hold(all[mine], "b")
	if x, y := find(all[theirs]), find(all[mine]); x != "here" || y != "b" {
		t.Errorf("rooms that are held: %s and %s", x, y)
	}
	r.hold(all[theirs], "a run")
	if got := find(all[theirs]); got != "here" {
		t.Errorf("a room of no node is at %s", got)
	}
	r.hold(all[mine], "")
	r.hold(all[theirs], "b")
	gone := make(chan error, 1)
	go func() { // the node dies: its rooms go on here when its lease has ended
		c, err := a.Find(t.Context(), all[theirs])
		if c != nil {
			c.Close()
		}
		gone <- err
	}()
	r.hold(all[theirs], "")
	r.leave("b")
	if err := <-gone; err != nil {
		t.Error(err)
	}
	until(t, "alone", func() bool { return len(a.Peers()) == 0 })
	if got := find(all[theirs]); got != "here" {
		t.Errorf("a room of a node that has gone is at %s", got)
	}
}

// TestDialFrozen checks that a connection to a node that does not answer is given up when its
// lease has ended, and not only when the time for connections has passed.
func TestDialFrozen(t *testing.T) {
	r := newRegistry()
	a := join(t, r, "a")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	info := fmt.Sprintf(`{"address":%q,"fingerprint":"ab"}`, l.Addr())
	if err := (handle{r, "frozen"}).Announce(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	until(t, "together", func() bool { return len(a.Peers()) == 1 })
	dialed := make(chan error, 1)
	go func() {
		_, err := a.Dial(t.Context(), a.Peers()[0])
		dialed <- err
	}()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r.leave("frozen")
	if err := <-dialed; !errors.Is(err, context.Canceled) {
		t.Errorf("the connection ends with %v", err)
	}
}

// TestStrangers checks that both sides refuse a certificate that is not in the registry,
// and that connections to a node that has gone are closed.
func TestStrangers(t *testing.T) {
	r := newRegistry()
	a, b := join(t, r, "a"), join(t, r, "b")
	until(t, "together", func() bool { return len(a.Peers()) == 1 && len(b.Peers()) == 1 })
	own := newRegistry() // of another log, with the address and the fingerprint of a
	own.members["a"] = r.members["a"]
	strange := join(t, own, "s")
	until(t, "knows a", func() bool { return len(strange.Peers()) == 1 })
	c, err := strange.Dial(t.Context(), a.Self())
	if err == nil { // the client of TLS 1.3 learns of the refusal when it reads
		if who, err := ask(c); err == nil {
			t.Errorf("%s answers a stranger", who)
		}
	}
	other := strange.Self()
	other.ID, other.Fingerprint = "b", b.Self().Fingerprint // its address, with another certificate
	if _, err := a.Dial(t.Context(), other); !errors.Is(err, errStranger) {
		t.Errorf("a stranger at the address of a node: %v", err)
	}
	c, err = a.Dial(t.Context(), b.Self())
	if err != nil {
		t.Fatal(err)
	}
	r.leave("b")
	_, _ = io.Copy(io.Discard, c) // it returns when the connection is closed, by whichever side is first
	if _, err := a.Dial(t.Context(), b.Self()); err == nil {
		t.Error("a node that has gone is dialed")
	}
}

// TestMove checks that rooms go to their owners with their options, and that all rooms of a
// node that drains go to the others.
func TestMove(t *testing.T) {
	r := newRegistry()
	a := join(t, r, "a")
	for _, id := range rooms(40) {
		a.rooms.rooms[id] = "options of " + id
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { a.mover.Run(ctx) })
	b, c := join(t, r, "b"), join(t, r, "c")
	nodes := []*testNode{a, b, c}
	check := func(x *testNode) bool {
		x.rooms.mu.Lock()
		defer x.rooms.mu.Unlock()
		want := 0
		for _, id := range rooms(40) {
			if x.Owns(id) {
				want++
				if x.rooms.rooms[id] != "options of "+id {
					return false
				}
			}
		}
		return len(x.rooms.rooms) == want && want > 0
	}
	for _, x := range nodes {
		until(t, "each room at its owner", func() bool { return len(x.Peers()) == 2 && check(x) })
	}
	stop()
	running.Wait()
	if err := a.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.mover.Drain(t.Context())
	until(t, "all rooms at the other nodes", func() bool { return check(b) || len(b.rooms.Movable()) > 0 })
	if n, m := len(b.rooms.Movable()), len(c.rooms.Movable()); len(a.rooms.Movable()) != 0 || n+m != 40 {
		t.Errorf("%d rooms at the node that drains, %d and %d at the others", len(a.rooms.Movable()), n, m)
	}
}

// TestDrainLimit checks that a drain interrupts turns at its limit, and that a node alone
// keeps its rooms.
func TestDrainLimit(t *testing.T) {
	r := newRegistry()
	a := join(t, r, "a")
	a.rooms.rooms["r_1"], a.rooms.busy = "", make(chan struct{})
	if err := a.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.mover.Drain(t.Context())
	if len(a.rooms.Movable()) != 1 {
		t.Error("a node alone has released its room")
	}
	b := join(t, r, "b")
	until(t, "together", func() bool { return len(a.Peers()) == 1 })
	ctx, cancel := context.WithCancel(t.Context())
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		a.mover.Drain(ctx)
	}()
	until(t, "waiting for the turn", func() bool { a.mover.mu.Lock(); defer a.mover.mu.Unlock(); return len(a.mover.moving) == 1 })
	cancel()
	<-drained
	if len(a.rooms.Movable()) != 0 || len(b.rooms.Movable()) != 1 {
		t.Error("the room has not moved at the limit")
	}
}

// TestListen checks addresses at which no other node could reach this one.
func TestListen(t *testing.T) {
	for _, address := range []string{"", ":8422", "0.0.0.0:8422", "[::]:8422", "8422", "192.0.2.1:1"} {
		if l, err := Listen(address); err == nil {
			l.Close()
			t.Errorf("%q is taken", address)
		}
	}
}
