package moot

import (
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
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
