package relay

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/room"
)

func deliveredBytes(in session.Inbound) []byte {
	d, _ := in.Event.(session.Delivered)
	return d.Message
}

// texts are what a visitor saw said.
func (v *visitor) texts() (all []string) {
	for _, e := range v.seen {
		if m, ok := e.Body.(room.MessagePosted); ok {
			all = append(all, m.Message.Text)
		}
	}
	return all
}

// TestObserveLevels: two who watch the same room at different levels see
// different things, and neither sees what is internal.
func TestObserveLevels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		bob, eve := h.visitor("bob", identity.GrantObserver), h.visitor("eve", identity.GrantObserver)
		p := newPlay("r_1", room.Observer{Device: bob.id.String()}, room.Observer{Device: eve.id.String(), Level: room.UserRedacted})
		for _, v := range []room.Visibility{room.UserVisible, room.UserRedacted, room.Internal, "", "whatever"} {
			p.post("said "+string(v), v)
		}
		h.gallery.Show(p)
		p.end(true)
		for _, v := range []*visitor{bob, eve} {
			v.watch(WatcherConfig{Last: 100})
			if err := <-v.ended; err != nil {
				t.Fatal(err)
			}
		}
		if got, want := bob.texts(), []string{"said user_visible", "in short", "said "}; !reflect.DeepEqual(got, want) {
			t.Errorf("bob sees %q, want %q", got, want)
		}
		if got, want := eve.texts(), []string{"said user_visible", "said user_redacted", "said "}; !reflect.DeepEqual(got, want) {
			t.Errorf("eve sees %q, want %q", got, want)
		}
		for _, b := range h.hub.seen {
			if strings.Contains(string(b), "said internal") || strings.Contains(string(b), "whatever") || strings.Contains(string(b), "-secret") || strings.Contains(string(b), "/home") {
				t.Errorf("it left: %s", b)
			}
		}
	})
}

// TestObserveCatchUp: first the last of the past, with what opens the room, and
// then what comes, to the end.
func TestObserveCatchUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		v := h.visitor("bob", identity.GrantObserver)
		p := newPlay("r_1", room.Observer{Device: v.id.String()})
		for i := range 500 {
			p.post(fmt.Sprint("past ", i), room.UserVisible)
		}
		h.gallery.Show(p)
		live := make(chan struct{}, 1)
		v.shown = func(s Shown) error {
			signal(live)
			return nil
		}
		v.watch(WatcherConfig{Last: 20})
		<-live
		for i := range 300 {
			p.post(fmt.Sprint("live ", i), room.UserVisible)
		}
		synctest.Wait()
		p.end(true)
		if err := <-v.ended; err != nil {
			t.Fatal(err)
		}
		var want []string
		for i := range 20 {
			want = append(want, fmt.Sprint("past ", 480+i))
		}
		for i := range 300 {
			want = append(want, fmt.Sprint("live ", i))
		}
		if got := v.texts(); !reflect.DeepEqual(got, want) {
			t.Errorf("got %d texts %.200q..., want %d", len(got), got, len(want))
		}
		if len(v.head) != 2 || v.head[0].Seq != 1 || v.head[1].Seq != 2 {
			t.Errorf("the room is opened by %+v", v.head)
		}
	})
}

// TestObserveQuiet: a room in which nothing has happened, or nothing that may be
// seen, is shown at once all the same, and there is something to say in it.
func TestObserveQuiet(t *testing.T) {
	for last := range 5 {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			v := h.visitor("bob", identity.GrantObserver)
			p := newPlay("r_1", room.Observer{Device: v.id.String()})
			if last > 2 {
				p.post("for nobody", room.Internal)
			}
			h.gallery.Show(p)
			begun := time.Now()
			v.watch(WatcherConfig{Last: last})
			if err := v.watcher.Say(t.Context(), "hello?"); err != nil || time.Since(begun) > time.Second {
				t.Errorf("the last %d: said after %v, %v", last, time.Since(begun), err)
			}
		})
	}
}

// TestObserveFrozen: who does not take what it is shown holds up neither the
// room nor anybody else, costs a bounded number of events, and has everything
// once it goes on.
func TestObserveFrozen(t *testing.T) {
	const events = 3000
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		slow, quick := h.visitor("slow", identity.GrantObserver), h.visitor("quick", identity.GrantObserver)
		p := newPlay("r_1", room.Observer{Device: slow.id.String()}, room.Observer{Device: quick.id.String()})
		h.gallery.Show(p)
		frozen, thaw := make(chan struct{}), make(chan struct{})
		slow.shown = func(Shown) error {
			if frozen != nil {
				close(frozen)
				<-thaw
				frozen = nil
			}
			return nil
		}
		slow.watch(WatcherConfig{})
		synctest.Wait()
		p.post("first", room.UserVisible)
		<-frozen
		p.mu.Lock()
		before := p.read
		p.mu.Unlock()
		for i := range events {
			p.post(fmt.Sprint(i), room.UserVisible)
		}
		synctest.Wait()
		p.mu.Lock()
		ahead := p.read - before
		p.mu.Unlock()
		if ahead > maxBatch+1 {
			t.Errorf("%d events were read for one that takes none", ahead)
		}
		after := int64(0)
		quick.watch(WatcherConfig{After: &after})
		time.Sleep(events / maxBatch * 2 * sceneEvery) // of the bubble
		p.end(true)
		if err := <-quick.ended; err != nil || len(quick.texts()) != events+1 {
			t.Errorf("the quick one saw %d, %v", len(quick.texts()), err)
		}
		close(thaw)
		if err := <-slow.ended; err != nil || len(slow.texts()) != events+1 || slow.texts()[events] != fmt.Sprint(events-1) {
			t.Errorf("the slow one saw %d, %v", len(slow.texts()), err)
		}
	})
}

// TestObservePace: who catches up leaves most of the connection to others.
func TestObservePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		var all []room.Observer
		var visitors []*visitor
		for i := range 3 {
			v := h.visitor(fmt.Sprint("v", i), identity.GrantObserver)
			visitors, all = append(visitors, v), append(all, room.Observer{Device: v.id.String()})
		}
		p := newPlay("r_1", all...)
		for range 500 {
			p.post(strings.Repeat("x", 10_000), room.UserVisible)
		}
		h.gallery.Show(p)
		for _, v := range visitors {
			v.watch(WatcherConfig{Last: 1000})
		}
		time.Sleep(20 * time.Second)
		h.hub.mu.Lock()
		sent := 0
		for _, b := range h.hub.seen {
			sent += len(b)
		}
		h.hub.mu.Unlock()
		if most := galleryBurst + 21*galleryRate; sent > most || sent < most/2 {
			t.Errorf("%d bytes in 20 s, and the most is %d", sent, most)
		}
		p.end(true)
		for _, v := range visitors {
			if err := <-v.ended; err != nil || len(v.texts()) != 500 {
				t.Errorf("one saw %d, %v", len(v.texts()), err)
			}
		}
	})
}

// TestObserveRevoked: a grant that was taken back ends the stream, also of one
// that waits.
func TestObserveRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		v := h.visitor("bob", identity.GrantObserver)
		p := newPlay("r_1", room.Observer{Device: v.id.String()})
		h.gallery.Show(p)
		v.watch(WatcherConfig{Last: 10})
		synctest.Wait()
		h.pair(v.id, "bob", identity.GrantAgent)
		p.post("not for bob", room.UserVisible)
		if err := <-v.ended; !errors.Is(err, endpoint.ErrDenied) {
			t.Errorf("it ended with %v", err)
		}
		if slices.Contains(v.texts(), "not for bob") {
			t.Error("it was shown all the same")
		}
	})
	synctest.Test(t, func(t *testing.T) { // with nothing to be shown
		h := newHouse(t)
		v := h.visitor("bob", identity.GrantObserver)
		h.gallery.Show(newPlay("r_1", room.Observer{Device: v.id.String()}))
		v.watch(WatcherConfig{Last: 10})
		synctest.Wait()
		h.pair(v.id, "bob", identity.GrantObserver, func(p *identity.Peer) { p.Changed = time.Now() })
		if err := <-v.ended; !errors.Is(err, endpoint.ErrDenied) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// TestObserveSays: what is said is posted once for its id, at the rate of turns,
// and refused with a reason.
func TestObserveSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		v := h.visitor("bob", identity.GrantObserver)
		p := newPlay("r_1", room.Observer{Device: v.id.String()})
		h.gallery.Show(p)
		v.watch(WatcherConfig{})
		synctest.Wait()
		begun := time.Now()
		for i := range DefaultBurst + 2 {
			if err := v.watcher.Say(t.Context(), fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begun); took < 15*time.Second {
			t.Errorf("two more than the burst took %v", took)
		}
		if got := p.texts(); len(got) != DefaultBurst+2 {
			t.Errorf("the room has %q", got)
		}
		time.Sleep(time.Hour)
		if err := v.watcher.Say(t.Context(), strings.Repeat("x", maxWords+1)); !errors.Is(err, endpoint.ErrTooLarge) {
			t.Errorf("a long one: %v", err)
		}
		if err := v.watcher.Say(t.Context(), " \n"); err == nil {
			t.Error("an empty one was said")
		}
		p.refuse = room.ErrDenied
		if err := v.watcher.Say(t.Context(), "muted"); !errors.Is(err, endpoint.ErrDenied) {
			t.Errorf("muted: %v", err)
		}
		p.refuse = room.ErrOver
		if err := v.watcher.Say(t.Context(), "late"); !errors.Is(err, endpoint.ErrClosed) {
			t.Errorf("late: %v", err)
		}
		v.stop()
		<-v.ended
		p.refuse = nil
		time.Sleep(time.Hour)
		n := len(p.texts())
		for range 3 { // again, as a device does that was cut off
			e, err := v.tells(envelope.Envelope{ID: "m1", Type: envelope.Message, Room: "r_1", Body: body(words{"once"})})
			if err != nil || e.Type != envelope.Status {
				t.Fatal(e.Type, err)
			}
		}
		if got := p.texts()[n:]; len(got) != 1 {
			t.Errorf("one message was posted as %q", got)
		}
		if e, err := v.tells(envelope.Envelope{ID: "m2", Type: envelope.Message, Room: "r_1", Body: body(words{"too many"})}); err != nil || !strings.Contains(string(e.Body), `"code":"limit","retry_ms":`) {
			t.Errorf("the fourth at once: %s, %v", e.Body, err)
		}
	})
}
