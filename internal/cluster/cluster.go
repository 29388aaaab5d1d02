// Package cluster makes several processes of `moot serve` one service. They are nodes: they
// share a log that is kept on servers, and each runs a part of the rooms.
//
// The registry of nodes is the registry of the log ([log.Members]). A node announces its
// address and the fingerprint of a certificate that it makes when it starts. Connections
// between nodes use TLS 1.3, and each side compares the certificate of the other with the
// registry. So the nodes trust the processes that may write the log, and no others.
//
// # Placement
//
// A room is where its lock is held. A room that no process holds belongs to the node with
// the highest random weight (rendezvous hashing: Thaler and Ravishankar, 1998) among the
// nodes that are not draining. If a node comes, it gets an equal part of the rooms from
// each of the others; if one goes, its rooms are spread over those that remain, and no
// other room moves. Weights are computed from addresses, so that a node that is restarted gets
// its rooms back.
//
// Owners of other devices know one device of the host, by its keys. A room with seats of
// theirs belongs to one node of that device: the one with the highest random weight for the
// id of the device. So one node is online as a device, also if several have its keys. While
// there is none, the room waits.
//
// All of this only decides which node tries to run a room. The log decides which one may:
// each owner appends with its own epoch, and an append of an older owner is refused.
//
// # Moves
//
// A [Mover] hands over each room that belongs to another node, between two turns. The old
// owner stores the state, frees the lock and asks the new owner to open the room. A node
// that is told to end does this with all of its rooms first.
package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
)

// Config says what a Node is. Members and Address are required.
type Config struct {
	Members log.Members
	Address string // HOST:PORT at which the other nodes reach this one
	Version string // of this program
	Device  string // id of the device that this node is toward other owners; "" is none
	Log     *slog.Logger
	// DeviceOf returns the device whose nodes alone may run a room, because owners of other
	// devices know it; "" is any. A nil func has no such rooms.
	DeviceOf func(room string) string
	// Interval is the time between two reads of the registry; 0 is half a second.
	Interval time.Duration
}

// A Peer is a node in the registry.
type Peer struct {
	ID          string `json:"-"` // of its log handle
	Address     string `json:"address"`
	Fingerprint string `json:"fingerprint"` // SHA-256 of its certificate, in hex
	Version     string `json:"version,omitempty"`
	Device      string `json:"device,omitempty"`
	Draining    bool   `json:"draining,omitempty"` // it ends, and takes no rooms
}

// A Node is this process as a node. Its methods are safe for concurrent use.
type Node struct {
	cfg   Config
	id    string
	cert  tls.Certificate
	reads chan struct{} // semaphore of one for reads of the registry

	mu      sync.Mutex
	self    Peer
	peers   []Peer // the others, by id
	read    time.Time
	changed chan struct{} // closed by the next change of peers
	conns   map[*peerConn]string
	clients map[string]*http.Client
}

// Join announces this process as a node and reads the registry. The caller runs
// [Node.Run]. The node leaves the registry when its log is closed.
func Join(ctx context.Context, cfg Config) (*Node, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Interval <= 0 {
		cfg.Interval = 500 * time.Millisecond
	}
	cert, fingerprint, err := newCertificate()
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	n := &Node{
		cfg: cfg, id: cfg.Members.Self(), cert: cert, reads: make(chan struct{}, 1), changed: make(chan struct{}),
		self:  Peer{ID: cfg.Members.Self(), Address: cfg.Address, Fingerprint: fingerprint, Version: cfg.Version, Device: cfg.Device},
		conns: map[*peerConn]string{}, clients: map[string]*http.Client{},
	}
	if err := n.announce(ctx); err != nil {
		return nil, err
	}
	return n, n.refresh(ctx)
}

func (n *Node) announce(ctx context.Context) error {
	n.mu.Lock()
	info, err := json.Marshal(n.self)
	n.mu.Unlock()
	if err != nil {
		return err
	}
	return n.cfg.Members.Announce(ctx, string(info))
}

// Drain announces that this node ends and takes no more rooms.
func (n *Node) Drain(ctx context.Context) error {
	n.mu.Lock()
	n.self.Draining = true
	n.mu.Unlock()
	return n.announce(ctx)
}

// Run reads the registry until ctx ends. It closes connections to nodes that have gone.
// lapsed is called after a time in which this process may have lost its lease, for example
// because it was stopped; it may be nil.
func (n *Node) Run(ctx context.Context, lapsed func()) {
	ticker := time.NewTicker(n.cfg.Interval)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			n.mu.Lock()
			closeAll := n.dropGone(true)
			n.mu.Unlock()
			closeAll()
			return
		case <-ticker.C:
		}
		if err := n.refresh(ctx); err != nil {
			if ctx.Err() == nil {
				n.cfg.Log.Warn("the registry of nodes cannot be read", "error", err)
			}
			continue
		}
		if now := time.Now(); now.Sub(last) > lapse && lapsed != nil {
			lapsed()
		}
		last = time.Now()
	}
}

// lapse is the time without a read of the registry after which a lease may have ended. It
// is less than that of a lease.
const lapse = 4 * time.Second

// refresh reads the registry.
func (n *Node) refresh(ctx context.Context) error {
	select {
	case n.reads <- struct{}{}:
		defer func() { <-n.reads }()
	case <-ctx.Done():
		return ctx.Err()
	}
	members, err := n.cfg.Members.Members(ctx)
	if err != nil {
		return err
	}
	var peers []Peer
	for _, m := range members {
		if p, ok := peerOf(m); ok && p.ID != n.id {
			peers = append(peers, p)
		}
	}
	slices.SortFunc(peers, func(a, b Peer) int { return cmp.Compare(a.ID, b.ID) })
	n.mu.Lock()
	n.read = time.Now()
	closeGone := func() {}
	if !slices.Equal(peers, n.peers) {
		n.peers = peers
		close(n.changed)
		n.changed = make(chan struct{})
		closeGone = n.dropGone(false)
	}
	n.mu.Unlock()
	closeGone()
	return nil
}

// peerOf reads what a member has announced. Processes that are no nodes announce nothing.
func peerOf(m log.Member) (p Peer, ok bool) {
	if err := json.Unmarshal([]byte(m.Info), &p); err != nil || p.Address == "" || p.Fingerprint == "" {
		return Peer{}, false
	}
	p.ID = m.ID
	return p, true
}

// Self returns this node.
func (n *Node) Self() Peer {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.self
}

// Peers returns the other nodes, by id.
func (n *Node) Peers() []Peer {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.peers
}

// Changed returns a channel that is closed when nodes have come, gone or changed.
func (n *Node) Changed() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.changed
}

// peer returns the node with an id.
func (n *Node) peer(id string) (Peer, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id == n.id {
		return n.self, true
	}
	i := slices.IndexFunc(n.peers, func(p Peer) bool { return p.ID == id })
	if i < 0 {
		return Peer{}, false
	}
	return n.peers[i], true
}

// Times of [Node.Find].
const (
	// findWait is how long a request waits for the node of its room: longer than a lease,
	// so that it reaches the next owner if the node has died.
	findWait  = 10 * time.Second
	findRetry = 50 * time.Millisecond
)

// Find connects to the node that runs a room, or else to that to which the room belongs.
// The connection is nil if it is this one, if no node takes rooms, and if another process
// that is no node holds the room. It waits for a node that does not answer until its
// rooms may be opened by another one.
func (n *Node) Find(ctx context.Context, room string) (net.Conn, error) {
	return retry(ctx, func() (net.Conn, error) { return n.find(ctx, room) })
}

// FindDevice connects to the node that is online as the device of this one. The connection is
// nil if it is this one, or if there is none. It waits as Find does.
func (n *Node) FindDevice(ctx context.Context) (net.Conn, error) {
	return retry(ctx, func() (net.Conn, error) {
		p, ok := n.DeviceNode()
		if !ok || p.ID == n.id {
			return nil, nil
		}
		return n.Dial(ctx, p)
	})
}

func retry(ctx context.Context, find func() (net.Conn, error)) (net.Conn, error) {
	for end := time.Now().Add(findWait); ; {
		conn, err := find()
		if err == nil || ctx.Err() != nil || time.Now().After(end) {
			return conn, err
		}
		select {
		case <-time.After(findRetry):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (n *Node) find(ctx context.Context, room string) (net.Conn, error) {
	p, err := n.Holder(ctx, room)
	if err != nil {
		return nil, err
	}
	if p.ID == "" {
		p, _ = n.Owner(room)
	}
	if p.ID == "" || p.ID == n.id || p.Address == "" {
		return nil, nil
	}
	return n.Dial(ctx, p)
}

// Holder returns the node that holds the lock of a room. It has no address if the holder is
// no node, and the zero Peer means that no process holds the room.
func (n *Node) Holder(ctx context.Context, room string) (Peer, error) {
	id, err := n.cfg.Members.HeldBy(ctx, room)
	if err != nil || id == "" {
		return Peer{}, err
	}
	p, ok := n.peer(id)
	if !ok { // it may have come just now
		if err := n.refresh(ctx); err != nil {
			return Peer{}, err
		}
		if p, ok = n.peer(id); !ok {
			p.ID = id
		}
	}
	return p, nil
}

func unreachable(p Peer, err error) error {
	return &problem.Error{
		Code: "NODE-UNREACHABLE", What: "node " + p.Address + " cannot be reached", Where: "node " + p.Address, Err: err,
		Fix: "check that it runs, and that this machine can connect to its address; if it has ended, its rooms go on at another node within seconds",
	}
}
