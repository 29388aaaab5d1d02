package cluster

import (
	"cmp"
	"hash/fnv"
)

// Owner returns the node to which a room belongs: that with the highest random weight of
// those that are not draining and have the device of the room. There may be none.
func (n *Node) Owner(room string) (Peer, bool) {
	return n.owner(room, n.deviceOf(room))
}

func (n *Node) deviceOf(room string) string {
	if n.cfg.DeviceOf == nil {
		return ""
	}
	return n.cfg.DeviceOf(room)
}

func (n *Node) owner(room, device string) (Peer, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return highest(append([]Peer{n.self}, n.peers...), room, device)
}

// highest returns the owner of a room among nodes. All rooms of a device have the same one.
func highest(nodes []Peer, room, device string) (best Peer, found bool) {
	key := cmp.Or(device, room)
	for _, p := range nodes {
		if !p.Draining && (device == "" || p.Device == device) && (!found || before(key, p, best)) {
			best, found = p, true
		}
	}
	return best, found
}

// Device returns the id of the device of this node.
func (n *Node) Device() string { return n.cfg.Device }

// DeviceNode returns the node that is online as the device of this one. There is none if
// the nodes of the device drain.
func (n *Node) DeviceNode() (Peer, bool) { return n.owner("", n.cfg.Device) }

// OwnsDevice reports whether no other node is to be online as the device of this one.
func (n *Node) OwnsDevice() bool {
	p, ok := n.DeviceNode()
	return !ok || p.ID == n.id
}

// Owns reports whether a room belongs to this node.
func (n *Node) Owns(room string) bool {
	p, ok := n.Owner(room)
	return ok && p.ID == n.id
}

// before reports whether a precedes b as owner of a room.
func before(room string, a, b Peer) bool {
	wa, wb := weight(room, a.Address), weight(room, b.Address)
	if wa != wb {
		return wa > wb
	}
	return a.Address > b.Address || a.Address == b.Address && a.ID > b.ID
}

// weight returns the weight of a node for a room: FNV-1a, mixed by the finalizer of
// SplitMix64 (Steele et al., 2014), because the high bits of FNV change little with the
// last bytes.
func weight(room, address string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(room)) // it never fails
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(address))
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
