package server_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/bus"
	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/server"
)

// startGroup starts relays that are one, each with its own endpoints.
func startGroup(t *testing.T, cfg server.Config, join ...server.Bus) (relays []*relay) {
	t.Helper()
	for _, b := range join {
		cfg.Bus = b
		n := relaytest.NewNetwork()
		relays = append(relays, startOneOf(t, memory(n), cfg))
	}
	return relays
}

func startOneOf(t *testing.T, n network, cfg server.Config) *relay {
	cfg.Hosts = []string{n.host}
	return startOne(t, n, cfg)
}

// TestNATSRestarts: while there is no NATS server, devices of one relay reach each
// other, and senders are told that others are not there. The relay says so, without
// the password. When the server is back, all reach each other.
func TestNATSRestarts(t *testing.T) {
	n := relaytest.StartNATS(t, "hunter2")
	var log syncBuffer
	cfg := server.Config{Open: true, Limits: unlimited, Log: log.logger()}
	var relays []*relay
	for range 2 {
		cfg.Bus = connectBus(t, n.URL("g"))
		relays = append(relays, startOneOf(t, loopback(t), cfg))
	}
	one, two := relays[0], relays[1]
	connected := func(up int) {
		t.Helper()
		for deadline := time.Now().Add(3 * time.Minute); one.count("moot_relay_nats_connected")+two.count("moot_relay_nats_connected") != up; time.Sleep(10 * time.Millisecond) { // metrics cannot be waited for
			if time.Now().After(deadline) {
				t.Fatal("the relays do not notice the state of the server")
			}
		}
	}
	a, b, c := one.login(), two.login(), one.login()
	a.sendTo(b, "before")
	b.expectFrom(a, "before")
	connected(2)
	n.Stop()
	connected(0)
	a.sendTo(b, "meanwhile")
	a.expectGone(b, frame.GoneNotHere)
	a.sendTo(c, "to a device of the same relay")
	c.expectFrom(a, "to a device of the same relay")
	if one.count("moot_relay_nats_unsent_total") == 0 {
		t.Error("the frame that was not sent is not counted")
	}
	late := two.login()
	n.Start()
	connected(2)
	for _, e := range []*endpoint{b, late} {
		a.sendTo(e, "after")
		e.expectFrom(a, "after")
		e.sendTo(a, "to you too")
		a.expectFrom(e, "to you too")
	}
	one.stop()
	two.stop()
	if text := log.String(); strings.Count(text, "not connected to NATS") < 2 || !strings.Contains(text, `"msg":"connected to NATS"`) || strings.Contains(text, "hunter2") {
		t.Errorf("the log does not say what happened, or has the password:\n%s", text)
	}
}

// TestMovesWithoutBus: when a device has moved to another relay while the bus was
// down, its older connection ends as soon as the bus is back, whichever relay is
// the first to tell.
func TestMovesWithoutBus(t *testing.T) {
	for _, first := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			hub := relaytest.NewBusHub()
			buses := []server.Bus{hub.Join(), hub.Join()}
			relays := startGroup(t, server.Config{Open: true}, buses...)
			from, to := relays[first], relays[1-first]
			peer := from.login()
			hub.SetDown(true)
			synctest.Wait()
			key := newKey(t)
			old := from.loginAs(key)
			time.Sleep(time.Second) // in synctest time
			now := to.loginAs(key)
			synctest.Wait()
			if n := from.devices() + to.devices(); n != 3 {
				t.Errorf("%d connections while the bus is down", n)
			}
			hub.SetDown(false)
			if h := want[frame.Health](old); h.Text != "replaced by a newer login" {
				t.Error(h.Text)
			}
			old.expectClose(frame.CloseReplaced)
			synctest.Wait()
			peer.sendTo(now, "to the other relay")
			now.expectFrom(peer, "to the other relay")
			if from.count("moot_relay_moved_total") != 1 || to.count("moot_relay_moved_total") != 0 {
				t.Error("not the older connection has ended")
			}
			from.stop()
			to.stop()
		})
	}
}

// TestHostileBus: a program that publishes on the bus can do what a relay can:
// state a false sender, tell that a device is gone, and disconnect. Limits hold for
// it, nothing else is accepted from it, and no answer goes where it says.
func TestHostileBus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := relaytest.NewBusHub()
		relays := startGroup(t, server.Config{Open: true}, hub.Join(), hub.Join())
		hostile := hub.Join()
		victim, other := relays[0].login(), relays[1].login()
		say := func(body string) {
			t.Helper()
			if err := hostile.Publish(bus.Message{To: victim.id(), Body: []byte(body)}); err != nil {
				t.Fatal(err)
			}
		}
		encoded := func(f frame.Frame) string {
			t.Helper()
			b, err := frame.Append(nil, f)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		garbage := []string{
			"", "x", "\x40", "\x40\xff\xff\xff\xff\xff\xff\xff\xff", "\x40" + strings.Repeat("\x00", 9), strings.Repeat("x", 1<<20),
			encoded(frame.Send{To: other.id(), Payload: []byte("as if from a device")}), encoded(frame.Health{Text: "hello"}), encoded(frame.Restart{}),
			encoded(frame.Login{}), encoded(frame.Recv{})[:20], encoded(frame.Recv{Payload: make([]byte, frame.MaxPayload)}) + "x",
		}
		for _, b := range garbage {
			say(b)
		}
		synctest.Wait()
		if n := relays[0].count("moot_relay_nats_malformed_total"); n != len(garbage) {
			t.Errorf("%d of %d malformed messages were counted", n, len(garbage))
		}
		for range 5 {
			say(encoded(frame.Recv{From: other.id(), Payload: []byte("a false sender")}))
			victim.expectFrom(other, "a false sender")
		}
		say(encoded(frame.Recv{From: other.id(), Payload: []byte("one too many of a stranger")}))
		other.expectGone(victim, frame.GoneNotAllowed) // the one that it names is told, as by a relay
		say(encoded(frame.Gone{To: other.id(), Reason: frame.GoneNotHere}))
		victim.expectGone(other, frame.GoneNotHere)
		say("\x40\x00\x7f\xff\xff\xff\xff\xff\xff") // an older connection: this one stays
		victim.sendTo(other, "still here")
		other.expectFrom(victim, "still here")
		say("\x40" + strings.Repeat("\x00", 8))
		want[frame.Health](victim)
		victim.expectClose(frame.CloseReplaced)
		for _, r := range relays {
			r.stop()
		}
	})
}

// TestKilledRelay: the devices of a relay that is gone without a word are not
// there, and are reached at another relay as soon as they connect to it.
func TestKilledRelay(t *testing.T) {
	n := relaytest.StartNATS(t, "")
	b, err := bus.Connect(bus.Config{URL: n.URL("g"), Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	cfg := server.Config{Open: true, Bus: b}
	killed := startOneOf(t, loopback(t), cfg)
	cfg.Bus = connectBus(t, n.URL("g"))
	other := startOneOf(t, loopback(t), cfg)
	a, old := other.login(), killed.login()
	a.sendTo(old, "before")
	old.expectFrom(a, "before")
	b.Close() // its connections to devices stay, as those of a relay that cannot be reached
	a.sendTo(old, "after")
	a.expectGone(old, frame.GoneNotHere)
	now := other.loginAs(old.key)
	a.sendTo(now, "here")
	now.expectFrom(a, "here")
}
