package cluster

import "hash/fnv"

// Owner returns the node to which a room belongs: that with the highest random weight of
// those that are not draining. There is none if all are.
func (n *Node) Owner(room string) (Peer, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	best, found := n.self, !n.self.Draining
	for _, p := range n.peers {
		if !p.Draining && (!found || before(room, p, best)) {
			best, found = p, true
		}
	}
	if !found {
		return Peer{}, false
	}
	return best, true
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
