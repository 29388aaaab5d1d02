package server

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// maxPeers is how many devices a filter remembers.
const maxPeers = 1024

// A senderFilter decides which devices may send to one endpoint. After ALLOW,
// only listed devices may. Otherwise devices that the endpoint has written to
// may send without limit, and others strangerFrames a minute.
type senderFilter struct {
	strangerFrames int // per minute

	mu        sync.Mutex
	allowlist map[frame.ID]bool // set by ALLOW; nil without one
	peers     map[frame.ID]*knownPeer
}

// A knownPeer is the state of one other device.
type knownPeer struct {
	expected      bool          // the endpoint has sent to it
	sent          bool          // it has sent to the endpoint
	strangerLimit *rate.Limiter // limit while it is not expected
}

// expect records that the endpoint has sent to a device and expects answers.
func (d *senderFilter) expect(id frame.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.peer(id).expected = true
}

// admit reports whether a frame of a device may pass, and records the sender.
func (d *senderFilter) admit(id frame.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.allowlist != nil && !d.allowlist[id] {
		return false
	}
	p := d.peer(id)
	if d.allowlist == nil && !p.expected {
		if p.strangerLimit == nil {
			p.strangerLimit = rate.NewLimiter(rate.Limit(float64(d.strangerFrames)/60), d.strangerFrames)
		}
		if !p.strangerLimit.AllowN(time.Now(), 1) {
			return false
		}
	}
	p.sent = true
	return true
}

// setAllowlist replaces the allowlist.
func (d *senderFilter) setAllowlist(ids []frame.ID) {
	list := make(map[frame.ID]bool, len(ids))
	for _, id := range ids {
		list[id] = true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.allowlist = list
}

// senders returns the devices that have sent to the endpoint.
func (d *senderFilter) senders() (ids []frame.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, p := range d.peers {
		if p.sent {
			ids = append(ids, id)
		}
	}
	return ids
}

// peer returns the state of a device and creates it if needed. If there are too
// many, devices that are not expected are evicted first.
func (d *senderFilter) peer(id frame.ID) *knownPeer {
	if p := d.peers[id]; p != nil {
		return p
	}
	if d.peers == nil {
		d.peers = map[frame.ID]*knownPeer{}
	}
	if len(d.peers) >= maxPeers {
		d.evict()
	}
	p := &knownPeer{}
	d.peers[id] = p
	return p
}

func (d *senderFilter) evict() {
	var any frame.ID
	for id, p := range d.peers {
		if !p.expected {
			delete(d.peers, id)
			return
		}
		any = id
	}
	delete(d.peers, any)
}
