package moot

import (
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/device"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// A spectator who speaks gets a seat whose id no other seat has as its id or
// name, and that is not reserved.
func TestFreeSeat(t *testing.T) {
	v := room.View{Seats: []room.SeatView{{ID: "dba", Name: "Dr. Base"}, {ID: "bob"}, {ID: "Bob-2"}, {ID: "x1", Name: "carol"}}}
	for name, want := range map[string]string{
		"eve": "eve", "bob": "bob-3", "BOB": "BOB-3", "DBA": "DBA-2", "carol": "carol-2", "Carol": "Carol-2",
		"host": "host-2", "Policy": "Policy-2", "broadcast": "broadcast-2", "room": "room-2",
		"Zoë's laptop": "Zo--s-laptop", "": "observer", "李": "observer", "42": "observer", "-_-": "observer", "7 of 9": "of",
		strings.Repeat("n", 64): strings.Repeat("n", maxSeatName),
	} {
		if got := freeSeat(v, name); got != want {
			t.Errorf("%q sits as %q, want %q", name, got, want)
		}
	}
}

// TestEndedRoomIsForgotten: a room that has ended and was unloaded is kept for spectators
// only if a device may watch it. An invite offers it again.
func TestEndedRoomIsForgotten(t *testing.T) {
	h, asked := openDeaf(t, t.TempDir(), false)
	closed := make(chan struct{}, 2)
	withdraw := h.rooms.Closed
	h.rooms.Closed = func(r *coordinator.Room) { withdraw(r); closed <- struct{}{} }
	kept := func(id string) bool {
		h.remote.watching.Lock()
		defer h.remote.watching.Unlock()
		return h.remote.rooms[id] != nil
	}
	open := func() string {
		r, err := h.Create(t.Context(), Source{YAML: "version: room/v1\nopening: go on\nparticipants:\n  - {id: a, mode: full_auto, endpoint: {kind: go, name: deaf}}\npolicy: {use: silent}\n"}, Options{Foreground: true, Headless: true})
		if err != nil {
			t.Fatal(err)
		}
		<-asked
		return r.ID()
	}
	plain := open()
	watched := open()
	peers, err := device.OpenPeers(h.wiring.DeviceDir())
	if err != nil {
		t.Fatal(err)
	}
	other, err := identity.Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	guest := identity.Peer{ID: other.ID(), Record: other.Record(), PairPSK: make([]byte, 32), Mine: make([]byte, 32), Name: "guest", Grant: identity.GrantObserver, Room: watched}
	if _, err := peers.Add(guest); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{plain, watched} {
		if !kept(id) {
			t.Errorf("room %s cannot be watched while it runs", id)
		}
		if _, err := h.Do(t.Context(), id, Command{Actor: room.ActorHost, Do: room.Stop{}}); err != nil {
			t.Fatal(err)
		}
		<-closed
	}
	if kept(plain) || !kept(watched) {
		t.Errorf("kept after their ends: the room without observers %v, the other %v", kept(plain), kept(watched))
	}
	s, err := h.fold(t.Context(), plain)
	if err != nil {
		t.Fatal(err)
	}
	if h.offer(s.Spec); !kept(plain) {
		t.Error("a room that was offered again is not kept")
	}
}
