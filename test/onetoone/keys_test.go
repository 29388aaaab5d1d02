package onetoone

import (
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/room"
)

// TestChangedKeys checks that changed keys of a device suspend its seat, not the
// room, until a person accepts the keys.
func TestChangedKeys(t *testing.T) {
	f := newFlow(t)
	f.hosts, f.limits.MaxTurns = true, 20
	changed := make(chan struct{})
	f.theirs = says(func(p endpoint.Prompt) string {
		if p.Turn == 2 {
			must(t, f.ann.peers.Update(f.bob.self.ID(), func(q *identity.Peer) { q.Changed = time.Now() }))
			close(changed)
		}
		return "still here"
	})
	r := f.open()
	defer f.runInBackground(r)()
	e := f.until(r, 0, body[room.SeatChanged])
	if b := e.Body.(room.SeatChanged); b.Participant != "theirs" || b.Standing != room.Suspended || !strings.Contains(b.Reason, "RELAY-KEYS") {
		t.Errorf("%+v", b)
	}
	<-changed
	must(t, f.ann.peers.Verify(f.bob.self.ID(), time.Now()))
	f.do(r, room.SetStanding{Participant: "theirs", Standing: room.Active})
	f.do(r, room.Resume{}) // a one-to-one room had nobody to go on with
	f.until(r, e.Seq, func(e room.Event) bool {
		b, ok := e.Body.(room.MessagePosted)
		return ok && b.Message.From == "theirs"
	})
	f.do(r, room.Stop{})
}
