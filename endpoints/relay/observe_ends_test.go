package relay

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/room"
)

// TestObserveEnds: the end of a room reaches who watches, before the host goes;
// one that does not take it is waited for as long as the host says.
func TestObserveEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		v, gone := h.visitor("bob", identity.GrantObserver), h.visitor("gone", identity.GrantObserver)
		p := newPlay("r_1", room.Observer{Device: v.id.String()}, room.Observer{Device: gone.id.String()})
		leave := h.gallery.Show(p)
		v.watch(WatcherConfig{})
		synctest.Wait()
		for i := range 200 {
			p.post(fmt.Sprint(i), room.UserVisible)
		}
		p.end(true)
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

// TestObserveBye: who leaves says so, and is not waited for at the end.
func TestObserveBye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		v := h.visitor("bob", identity.GrantObserver)
		p := newPlay("r_1", room.Observer{Device: v.id.String()})
		leave := h.gallery.Show(p)
		v.watch(WatcherConfig{Last: 10})
		synctest.Wait()
		v.cancel()
		if err := <-v.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
		synctest.Wait()
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		leave(ctx)
		if took := time.Since(begun); took > sceneEvery {
			t.Errorf("it was waited for, %v", took)
		}
	})
}

// TestObserveAbsent: a device that runs no room says so, and is waited for.
func TestObserveAbsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.stop()
		p := NewPost(h.id, h.hub.plug(h.id), nil, nil)
		run(t, p)
		v := h.visitor("bob", identity.GrantObserver)
		silent := 0
		v.watch(WatcherConfig{Wait: time.Minute, Silent: func() { silent++ }})
		begun := time.Now()
		if err := <-v.ended; !errors.Is(err, endpoint.ErrUnreachable) || time.Since(begun) != time.Minute || silent != 1 {
			t.Errorf("it ended with %v after %v, told %d times", err, time.Since(begun), silent)
		}
	})
}

// TestObserveBounds: a device has so many streams, and garbage makes none.
func TestObserveBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		v := h.visitor("bob", identity.GrantObserver)
		link := h.hub.plug(v.id)
		for i := range 2 * maxStreamsOfOne {
			b, err := envelope.Encode(envelope.Envelope{ID: fmt.Sprint("w", i), Type: envelope.Watch, Room: fmt.Sprint("r_", i), Body: body(wish{})})
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
		h.gallery.mu.Lock()
		n := len(h.gallery.streams)
		_, bad := h.gallery.streams[place{v.id, "bad"}]
		h.gallery.mu.Unlock()
		if n != maxStreamsOfOne || bad || h.gallery.Counts().Limited != maxStreamsOfOne {
			t.Errorf("%d streams, of garbage %t, counts %+v", n, bad, h.gallery.Counts())
		}
	})
}
