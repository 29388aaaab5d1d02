package server

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// maxPeers is how many devices a filter remembers.
const maxPeers = 1024

// A senderFilter decides which devices may send to one endpoint. Devices that
// the endpoint has written to may send without limit, and others strangerFrames
// a minute.
type senderFilter struct {
	strangerFrames int // per minute

	mu    sync.Mutex
	peers map[frame.ID]*knownPeer
}

// A knownPeer is the state of one other device.
type knownPeer struct {
	expected      bool          // the endpoint has sent to it
	sent          bool          // it has sent to the endpoint
	strangerLimit *rate.Limiter // limit while it is not expected
}

// expect records that the endpoint has sent to a device and expects answers.
func (f *senderFilter) expect(id frame.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.peer(id).expected = true
}

// admit reports whether a frame of a device may pass, and records the sender.
func (f *senderFilter) admit(id frame.ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.peer(id)
	if !p.expected {
		if p.strangerLimit == nil {
			p.strangerLimit = rate.NewLimiter(rate.Limit(float64(f.strangerFrames)/60), f.strangerFrames)
		}
		if !p.strangerLimit.AllowN(time.Now(), 1) {
			return false
		}
	}
	p.sent = true
	return true
}

// senders returns the devices that have sent to the endpoint.
func (f *senderFilter) senders() (ids []frame.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, p := range f.peers {
		if p.sent {
			ids = append(ids, id)
		}
	}
	return ids
}

// peer returns the state of a device and creates it if needed. If there are too
// many, devices that are not expected are evicted first.
func (f *senderFilter) peer(id frame.ID) *knownPeer {
	if p := f.peers[id]; p != nil {
		return p
	}
	if f.peers == nil {
		f.peers = map[frame.ID]*knownPeer{}
	}
	if len(f.peers) >= maxPeers {
		f.evict()
	}
	p := &knownPeer{}
	f.peers[id] = p
	return p
}

func (f *senderFilter) evict() {
	var any frame.ID
	for id, p := range f.peers {
		if !p.expected {
			delete(f.peers, id)
			return
		}
		any = id
	}
	delete(f.peers, any)
}
