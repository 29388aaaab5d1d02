package cluster

import (
	"strings"
	"testing"
)

// deviceInName is the device of a room in its id, as "r_1 of D".
func deviceInName(room string) string {
	_, device, _ := strings.Cut(room, " of ")
	return device
}

// TestDeviceOwner checks that all rooms of a device belong to one of its nodes, the same for
// all nodes, and to none while no node has the device.
func TestDeviceOwner(t *testing.T) {
	peers := []Peer{{ID: "a", Address: "a:1", Device: "D"}, {ID: "b", Address: "b:1", Device: "E"}, {ID: "c", Address: "c:1", Device: "D"}}
	at := func(self int, draining ...string) *Node {
		n := &Node{cfg: Config{Device: peers[self].Device, DeviceOf: deviceInName}, id: peers[self].ID}
		for i, p := range peers {
			p.Draining = strings.Contains(strings.Join(draining, " "), p.ID)
			if i == self {
				n.self = p
			} else {
				n.peers = append(n.peers, p)
			}
		}
		return n
	}
	first, ok := at(0).DeviceNode()
	if !ok || first.Device != "D" || !at(strings.Index("abc", first.ID)).OwnsDevice() || !at(1).OwnsDevice() {
		t.Fatalf("node %+v is online as D", first)
	}
	second := strings.Trim("ac", first.ID)
	for _, id := range rooms(20) {
		for i := range peers {
			if p, _ := at(i).Owner(id + " of D"); p.ID != first.ID {
				t.Errorf("at node %d room %s of D belongs to %s, and to %s at another", i, id, p.ID, first.ID)
			}
			if p, _ := at(i, first.ID).Owner(id + " of D"); p.ID != second {
				t.Errorf("at node %d room %s of D belongs to %s while %s drains", i, id, p.ID, first.ID)
			}
			if p, ok := at(i, "b").Owner(id + " of E"); ok {
				t.Errorf("at node %d room %s of E belongs to %s, which has another device", i, id, p.ID)
			}
		}
	}
}

// TestDrainDevice checks that a node that drains releases the rooms of its device also if they
// wait for it then, and keeps others that no node takes.
func TestDrainDevice(t *testing.T) {
	r := newRegistry()
	a := join(t, r, "a")
	a.cfg.Device, a.cfg.DeviceOf = "D", deviceInName
	a.rooms.rooms["r_1"], a.rooms.rooms["r_1 of D"] = "", ""
	if err := a.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.mover.Drain(t.Context())
	if left := a.rooms.Movable(); len(left) != 1 || left[0] != "r_1" {
		t.Errorf("%v are left", left)
	}
}
