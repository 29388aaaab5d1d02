package server

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// maxPeers is how many devices a connection remembers something about.
const maxPeers = 1024

// doors decide who may send to one endpoint. With ALLOW, whom it lists. Without,
// whoever it has sent something to, because an answer is wanted; and
// everybody else may knock a few times a minute.
type doors struct {
	knocks int // a minute

	mu    sync.Mutex
	list  map[frame.ID]bool // of ALLOW; nil without one
	peers map[frame.ID]*peer
}

// A peer is what is remembered of another device.
type peer struct {
	wanted bool          // the endpoint has sent to it
	heard  bool          // it has sent to the endpoint
	knocks *rate.Limiter // of a stranger
}

// want says that the endpoint has sent to a device.
func (d *doors) want(id frame.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.peer(id).wanted = true
}

// admit reports whether a device's frame may pass, and remembers it if so.
func (d *doors) admit(id frame.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.list != nil && !d.list[id] {
		return false
	}
	p := d.peer(id)
	if d.list == nil && !p.wanted {
		if p.knocks == nil {
			p.knocks = rate.NewLimiter(rate.Limit(float64(d.knocks)/60), d.knocks)
		}
		if !p.knocks.AllowN(time.Now(), 1) {
			return false
		}
	}
	p.heard = true
	return true
}

// allow replaces the list.
func (d *doors) allow(ids []frame.ID) {
	list := make(map[frame.ID]bool, len(ids))
	for _, id := range ids {
		list[id] = true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = list
}

// audience returns the devices that have sent to the endpoint.
func (d *doors) audience() (ids []frame.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, p := range d.peers {
		if p.heard {
			ids = append(ids, id)
		}
	}
	return ids
}

// peer returns what is remembered of a device. When there are too many,
// strangers are forgotten first.
func (d *doors) peer(id frame.ID) *peer {
	if p := d.peers[id]; p != nil {
		return p
	}
	if d.peers == nil {
		d.peers = map[frame.ID]*peer{}
	}
	if len(d.peers) >= maxPeers {
		d.forget()
	}
	p := &peer{}
	d.peers[id] = p
	return p
}

func (d *doors) forget() {
	var any frame.ID
	for id, p := range d.peers {
		if !p.wanted {
			delete(d.peers, id)
			return
		}
		any = id
	}
	delete(d.peers, any)
}
