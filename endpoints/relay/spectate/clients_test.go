package spectate

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/room"
)

// TestTwoClients checks that two clients of one device watch the same room of a
// host, each from its own event on, and speak in it.
func TestTwoClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t)
		v := h.viewer("bob", identity.GrantObserver)
		r := newFakeRoom("r_1", room.Observer{Device: v.id.String()})
		defer h.server.Publish(r)(t.Context())
		d := relay.NewDispatcher(v.id, h.hub.Connect(v.id), nil)
		var seen [2][]int64
		var clients [2]*Client
		for i, after := range []int64{0, 2} {
			clients[i] = NewClient(ClientConfig{Host: h.id, Room: "r_1", After: &after, Show: func(s Snapshot) error {
				for _, e := range s.Events {
					seen[i] = append(seen[i], e.Seq)
				}
				return nil
			}})
			d.Handle(clients[i])
		}
		stop := run(t, d)
		ctx, cancel := context.WithCancel(t.Context())
		var work sync.WaitGroup
		for _, c := range clients {
			work.Go(func() { _ = c.Run(ctx) })
		}
		r.Post("to both", room.UserVisible)
		for _, c := range clients {
			if err := c.Say(ctx, "hello"); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		time.Sleep(time.Second) // virtual: the next snapshots
		cancel()
		work.Wait()
		stop()
		if !slices.Equal(seen[0], []int64{1, 2, 3, 4, 5}) || !slices.Equal(seen[1], []int64{3, 4, 5}) {
			t.Errorf("the clients have seen %v", seen)
		}
		if n := d.Violations(); n != 0 {
			t.Errorf("%d violations", n)
		}
	})
}
