package spectate

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
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/wire"
	"github.com/folkmoot/moot/room"
)

// texts returns the texts of the messages that a viewer saw.
func (v *viewer) texts() (all []string) {
	for _, e := range v.seen {
		if m, ok := e.Body.(room.MessagePosted); ok {
			all = append(all, m.Message.Text)
		}
	}
	return all
}

// TestWatchLevels checks that two spectators of different levels see different
// texts of one room, and that internal messages never leave.
func TestWatchLevels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t)
		bob, eve := h.viewer("bob", identity.GrantObserver), h.viewer("eve", identity.GrantObserver)
		p := newFakeRoom("r_1", room.Observer{Device: bob.id.String()}, room.Observer{Device: eve.id.String(), Level: room.UserRedacted})
		for _, v := range []room.Visibility{room.UserVisible, room.UserRedacted, room.Internal, "", "whatever"} {
			p.Post("said "+string(v), v)
		}
		h.server.Publish(p)
		p.End(true)
		for _, v := range []*viewer{bob, eve} {
			v.watch(ClientConfig{Last: 100})
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
		for _, b := range h.hub.Sent() {
			if strings.Contains(string(b), "said internal") || strings.Contains(string(b), "whatever") || strings.Contains(string(b), "-secret") || strings.Contains(string(b), "/home") {
				t.Errorf("a secret left the host: %s", b)
			}
		}
	})
}

// TestWatchCatchUp checks the order: the events that open the room, the last
// past events, then new events until the end.
func TestWatchCatchUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t)
		v := h.viewer("bob", identity.GrantObserver)
		p := newFakeRoom("r_1", room.Observer{Device: v.id.String()})
		for i := range 500 {
			p.Post(fmt.Sprint("past ", i), room.UserVisible)
		}
		h.server.Publish(p)
		live := make(chan struct{}, 1)
		v.shown = func(s Snapshot) error {
			signal(live)
			return nil
		}
		v.watch(ClientConfig{Last: 20})
		<-live
		for i := range 300 {
			p.Post(fmt.Sprint("live ", i), room.UserVisible)
		}
		synctest.Wait()
		p.End(true)
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
		if len(v.opening) != 2 || v.opening[0].Seq != 1 || v.opening[1].Seq != 2 {
			t.Errorf("the room is opened by %+v", v.opening)
		}
	})
}

// TestWatchWithoutEvents checks that a room without visible events is shown at
// once, so that the spectator can speak.
func TestWatchWithoutEvents(t *testing.T) {
	for last := range 5 {
		synctest.Test(t, func(t *testing.T) {
			h := newTestHost(t)
			v := h.viewer("bob", identity.GrantObserver)
			p := newFakeRoom("r_1", room.Observer{Device: v.id.String()})
			if last > 2 {
				p.Post("for nobody", room.Internal)
			}
			h.server.Publish(p)
			begun := time.Now()
			v.watch(ClientConfig{Last: last})
			if err := v.client.Say(t.Context(), "hello?"); err != nil || time.Since(begun) > time.Second {
				t.Errorf("the last %d: said after %v, %v", last, time.Since(begun), err)
			}
		})
	}
}

// TestWatchFrozenClient checks that a client which takes no events delays neither
// the room nor other clients, costs a bounded number of events, and gets all
// events once it goes on.
func TestWatchFrozenClient(t *testing.T) {
	const events = 3000
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t)
		slow, quick := h.viewer("slow", identity.GrantObserver), h.viewer("quick", identity.GrantObserver)
		p := newFakeRoom("r_1", room.Observer{Device: slow.id.String()}, room.Observer{Device: quick.id.String()})
		h.server.Publish(p)
		frozen, thaw := make(chan struct{}), make(chan struct{})
		slow.shown = func(Snapshot) error {
			if frozen != nil {
				close(frozen)
				<-thaw
				frozen = nil
			}
			return nil
		}
		slow.watch(ClientConfig{})
		synctest.Wait()
		p.Post("first", room.UserVisible)
		<-frozen
		before := p.Read()
		for i := range events {
			p.Post(fmt.Sprint(i), room.UserVisible)
		}
		synctest.Wait()
		ahead := p.Read() - before
		if ahead > wire.MaxEvents+1 {
			t.Errorf("%d events were read for a client that takes none", ahead)
		}
		after := int64(0)
		quick.watch(ClientConfig{After: &after})
		time.Sleep(events / wire.MaxEvents * 2 * batchEvery)
		p.End(true)
		if err := <-quick.ended; err != nil || len(quick.texts()) != events+1 {
			t.Errorf("the quick client saw %d, %v", len(quick.texts()), err)
		}
		close(thaw)
		if err := <-slow.ended; err != nil || len(slow.texts()) != events+1 || slow.texts()[events] != fmt.Sprint(events-1) {
			t.Errorf("the slow client saw %d, %v", len(slow.texts()), err)
		}
	})
}

// TestWatchSendRate checks that clients which catch up leave most of the connection
// to others.
func TestWatchSendRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t)
		var all []room.Observer
		var viewers []*viewer
		for i := range 3 {
			v := h.viewer(fmt.Sprint("v", i), identity.GrantObserver)
			viewers, all = append(viewers, v), append(all, room.Observer{Device: v.id.String()})
		}
		p := newFakeRoom("r_1", all...)
		for range 500 {
			p.Post(strings.Repeat("x", 10_000), room.UserVisible)
		}
		h.server.Publish(p)
		for _, v := range viewers {
			v.watch(ClientConfig{Last: 1000})
		}
		time.Sleep(20 * time.Second)
		sent := 0
		for _, b := range h.hub.Sent() {
			sent += len(b)
		}
		if most := sendBurst + 21*sendRate; sent > most || sent < most/2 {
			t.Errorf("%d bytes in 20 s, and the most is %d", sent, most)
		}
		p.End(true)
		for _, v := range viewers {
			if err := <-v.ended; err != nil || len(v.texts()) != 500 {
				t.Errorf("a client saw %d, %v", len(v.texts()), err)
			}
		}
	})
}

// TestWatchRevoked checks that the end of a grant ends the stream, with events to
// send and without, and so does the removal of the device.
func TestWatchRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t)
		v := h.viewer("bob", identity.GrantObserver)
		p := newFakeRoom("r_1", room.Observer{Device: v.id.String()})
		h.server.Publish(p)
		v.watch(ClientConfig{Last: 10})
		synctest.Wait()
		h.pair(v.id, "bob", identity.GrantAgent)
		p.Post("not for bob", room.UserVisible)
		if err := <-v.ended; !errors.Is(err, endpoint.ErrDenied) {
			t.Errorf("Run returned %v", err)
		}
		if slices.Contains(v.texts(), "not for bob") {
			t.Error("the message was shown")
		}
		h.expectNoStreams()
	})
	synctest.Test(t, func(t *testing.T) { // without events
		h := newTestHost(t)
		v := h.viewer("bob", identity.GrantObserver)
		h.server.Publish(newFakeRoom("r_1", room.Observer{Device: v.id.String()}))
		v.watch(ClientConfig{Last: 10})
		synctest.Wait()
		h.pair(v.id, "bob", identity.GrantObserver, func(p *identity.Peer) { p.Changed = time.Now() })
		if err := <-v.ended; !errors.Is(err, endpoint.ErrDenied) {
			t.Errorf("Run returned %v", err)
		}
		h.expectNoStreams()
	})
	synctest.Test(t, func(t *testing.T) { // removed
		h := newTestHost(t)
		v := h.viewer("bob", identity.GrantObserver)
		p := newFakeRoom("r_1", room.Observer{Device: v.id.String()})
		h.server.Publish(p)
		v.watch(ClientConfig{Last: 10})
		synctest.Wait()
		h.mu.Lock()
		delete(h.peers, v.id)
		h.mu.Unlock()
		for range 100 {
			p.Post("not for bob", room.UserVisible)
			time.Sleep(10 * time.Second) // in synctest time
		}
		if slices.Contains(v.texts(), "not for bob") {
			t.Error("the message was shown")
		}
		h.expectNoStreams()
	})
}

// expectNoStreams requires that all streams have ended.
func (h *testHost) expectNoStreams() {
	h.t.Helper()
	synctest.Wait()
	h.server.mu.Lock()
	defer h.server.mu.Unlock()
	if n := len(h.server.streams); n != 0 {
		h.t.Errorf("%d streams are left", n)
	}
}

// TestSay checks that a message is posted once for its id, at the rate of turns,
// and refused with a reason.
func TestSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t)
		v := h.viewer("bob", identity.GrantObserver)
		p := newFakeRoom("r_1", room.Observer{Device: v.id.String()})
		h.server.Publish(p)
		v.watch(ClientConfig{})
		synctest.Wait()
		begun := time.Now()
		for i := range quota.DefaultBurst + 2 {
			if err := v.client.Say(t.Context(), fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begun); took < 15*time.Second {
			t.Errorf("two more than the burst took %v", took)
		}
		if got := p.Texts(); len(got) != quota.DefaultBurst+2 {
			t.Errorf("the room has %q", got)
		}
		time.Sleep(time.Hour)
		if err := v.client.Say(t.Context(), strings.Repeat("x", wire.MaxSayChars+1)); !errors.Is(err, endpoint.ErrTooLarge) {
			t.Errorf("a long message: %v", err)
		}
		if err := v.client.Say(t.Context(), " \n"); err == nil {
			t.Error("an empty message was posted")
		}
		p.sayErr = room.ErrDenied
		if err := v.client.Say(t.Context(), "muted"); !errors.Is(err, endpoint.ErrDenied) {
			t.Errorf("muted: %v", err)
		}
		p.sayErr = room.ErrOver
		if err := v.client.Say(t.Context(), "late"); !errors.Is(err, endpoint.ErrClosed) {
			t.Errorf("late: %v", err)
		}
		v.stop()
		<-v.ended
		p.sayErr = nil
		time.Sleep(time.Hour)
		n := len(p.Texts())
		for range 3 { // like a device that was cut off
			e, err := v.exchange(envelope.Envelope{ID: "m1", Type: envelope.Message, Room: "r_1", Body: wire.Body(wire.Say{Text: "once"})})
			if err != nil || e.Type != envelope.Status {
				t.Fatal(e.Type, err)
			}
		}
		if got := p.Texts()[n:]; len(got) != 1 {
			t.Errorf("one message was posted as %q", got)
		}
		if e, err := v.exchange(envelope.Envelope{ID: "m2", Type: envelope.Message, Room: "r_1", Body: wire.Body(wire.Say{Text: "too many"})}); err != nil || !strings.Contains(string(e.Body), `"code":"limit","retry_ms":`) {
			t.Errorf("the fourth at once: %s, %v", e.Body, err)
		}
	})
}
