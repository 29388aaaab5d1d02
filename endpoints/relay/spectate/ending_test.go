package spectate

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/wire"
	"github.com/folkmoot/moot/room"
)

// TestWatchEnding checks that the end of a room reaches its spectators before
// the host leaves, and that an absent spectator does not delay it.
func TestWatchEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t)
		v, gone := h.viewer("bob", identity.GrantObserver), h.viewer("gone", identity.GrantObserver)
		p := newFakeRoom("r_1", room.Observer{Device: v.id.String()}, room.Observer{Device: gone.id.String()})
		leave := h.server.Publish(p)
		v.watch(ClientConfig{})
		synctest.Wait()
		for i := range 200 {
			p.Post(fmt.Sprint(i), room.UserVisible)
		}
		p.End(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		begun := time.Now()
		leave(ctx)
		h.stop()
		if err := <-v.ended; err != nil || len(v.texts()) != 200 || time.Since(begun) > time.Minute {
			t.Errorf("it saw %d, %v, and the host left after %v", len(v.texts()), err, time.Since(begun))
		}
	})
}

// TestForgottenRoom checks that a room that was forgotten can be watched no more, and that a
// room which is published after it can.
func TestForgottenRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t)
		v := h.viewer("bob", identity.GrantObserver)
		h.server.Publish(newFakeRoom("r_1", room.Observer{Device: v.id.String()}))
		h.server.Forget("r_1")
		watch := func(id string) envelope.Type {
			e, err := v.exchange(envelope.Envelope{ID: id, Type: envelope.Watch, Body: wire.Body(wire.Subscribe{Last: 10})})
			if err != nil {
				t.Fatal(err)
			}
			return e.Type
		}
		if kind := watch("w1"); kind != envelope.Error {
			t.Errorf("the watch of a forgotten room is answered with %s", kind)
		}
		h.server.Publish(newFakeRoom("r_1", room.Observer{Device: v.id.String()}))
		if kind := watch("w2"); kind == envelope.Error {
			t.Errorf("the watch of a room that is there again is answered with %s", kind)
		}
	})
}

// TestWatchBye checks that the end does not wait for a spectator that has left.
func TestWatchBye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t)
		v := h.viewer("bob", identity.GrantObserver)
		p := newFakeRoom("r_1", room.Observer{Device: v.id.String()})
		leave := h.server.Publish(p)
		v.watch(ClientConfig{Last: 10})
		synctest.Wait()
		v.cancel()
		if err := <-v.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
		synctest.Wait()
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		leave(ctx)
		if took := time.Since(begun); took > batchEvery {
			t.Errorf("the host waited %v for it", took)
		}
	})
}

// TestWatchAbsent checks that a client waits for a device that runs no room, as
// long as configured.
func TestWatchAbsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t)
		h.stop()
		p := relay.NewDispatcher(h.id, h.hub.Connect(h.id), nil)
		run(t, p)
		v := h.viewer("bob", identity.GrantObserver)
		silent := 0
		v.watch(ClientConfig{Wait: time.Minute, Silent: func() { silent++ }})
		begun := time.Now()
		if err := <-v.ended; !errors.Is(err, endpoint.ErrUnreachable) || time.Since(begun) != time.Minute || silent != 1 {
			t.Errorf("Run returned %v after %v, Silent called %d times", err, time.Since(begun), silent)
		}
	})
}

// TestWatchBounds checks the limit of streams of a device, and that malformed
// requests open none.
func TestWatchBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t)
		v := h.viewer("bob", identity.GrantObserver)
		link := h.hub.Connect(v.id)
		for i := range 2 * maxStreamsPerDevice {
			b, err := envelope.Encode(envelope.Envelope{ID: fmt.Sprint("w", i), Type: envelope.Watch, Room: fmt.Sprint("r_", i), Body: wire.Body(wire.Subscribe{})})
			if err != nil {
				t.Fatal(err)
			}
			if err := link.Send(t.Context(), h.id, b); err != nil {
				t.Fatal(err)
			}
		}
		for _, bad := range []string{`{"after":-1}`, `{"after":1,"last":1}`, `{"last":-1}`, `{"last":10001}`, `{"After":1}`, `{"after":1,"after":2}`, `{"room":"x"}`, `{"after":"1"}`} {
			b := []byte(`{"v":1,"id":"w","type":"watch","room":"bad","body":` + bad + `}`)
			if err := link.Send(t.Context(), h.id, b); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		h.server.mu.Lock()
		n := len(h.server.streams)
		_, bad := h.server.streams[subscription{v.id, "bad", ""}]
		h.server.mu.Unlock()
		if n != maxStreamsPerDevice || bad || h.server.Counts().Limited != maxStreamsPerDevice {
			t.Errorf("%d streams, of malformed requests %t, counts %+v", n, bad, h.server.Counts())
		}
	})
}
