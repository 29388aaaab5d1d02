package spectate

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/wire"
	"github.com/folkmoot/moot/room"
)

// TestWatchDefaultDeny checks who may watch and speak: a device with the grant
// observer that the room lists, or whose invite names the room. All others get
// the same reply as for an unknown room.
func TestWatchDefaultDeny(t *testing.T) {
	const yes, no = "", wire.ReplyDenied
	inRoom := func(id string) func(*identity.Peer) { return func(p *identity.Peer) { p.Room = id } }
	listed := func(l room.Visibility) func(identity.DeviceID) []room.Observer {
		return func(d identity.DeviceID) []room.Observer { return []room.Observer{{Device: d.String(), Level: l}} }
	}
	unlisted := func(identity.DeviceID) []room.Observer { return nil }
	for _, c := range []struct {
		name  string
		grant identity.Grant
		edit  func(*identity.Peer)
		lists func(identity.DeviceID) []room.Observer
		asks  string
		want  string
	}{
		{"observer, listed", identity.GrantObserver, nil, listed(""), "r_1", yes},
		{"observer, listed, the only room", identity.GrantObserver, nil, listed(""), "", yes},
		{"observer, listed as user_redacted", identity.GrantObserver, nil, listed(room.UserRedacted), "r_1", yes},
		{"observer of that room, unlisted", identity.GrantObserver, inRoom("r_1"), unlisted, "r_1", yes},
		{"observer of that room, listed", identity.GrantObserver, inRoom("r_1"), listed(room.UserRedacted), "r_1", yes},

		{"observer, unlisted", identity.GrantObserver, nil, unlisted, "r_1", no},
		{"observer, unlisted, the only room", identity.GrantObserver, nil, unlisted, "", no},
		{"observer, another listed", identity.GrantObserver, nil, func(identity.DeviceID) []room.Observer { return listed("")(relaytest.NewID(t)) }, "r_1", no},
		{"observer of another room, listed", identity.GrantObserver, inRoom("r_2"), listed(""), "r_1", no},
		{"observer of another room, which it asks for", identity.GrantObserver, inRoom("r_2"), unlisted, "r_2", no},
		{"observer, listed, unknown room", identity.GrantObserver, nil, listed(""), "r_3", no},
		{"observer, listed as internal", identity.GrantObserver, nil, listed(room.Internal), "r_1", no},
		{"observer, listed with an unknown level", identity.GrantObserver, nil, listed("everything"), "r_1", no},
		{"agent, listed", identity.GrantAgent, nil, listed(""), "r_1", no},
		{"agent of that room, listed", identity.GrantAgent, inRoom("r_1"), listed(""), "r_1", no},
		{"no grant, listed", 0, nil, listed(""), "r_1", no},
		{"an unknown grant, listed", 3, nil, listed(""), "r_1", no},
		{"suspended", identity.GrantObserver, func(p *identity.Peer) { p.Changed = time.Now() }, listed(""), "r_1", no},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newTestHost(t)
				edit := []func(*identity.Peer){}
				if c.edit != nil {
					edit = append(edit, c.edit)
				}
				v := h.viewer("bob", c.grant, edit...)
				p := newFakeRoom("r_1", c.lists(v.id)...)
				h.server.Publish(p)
				e, err := v.exchange(envelope.Envelope{ID: "w1", Type: envelope.Watch, Room: c.asks, Body: wire.Body(wire.Subscribe{Last: 100})})
				if err != nil {
					t.Fatal(err)
				}
				var got wire.Reply
				if e.Type == envelope.Error {
					if err := e.DecodeBody(&got); err != nil {
						t.Fatal(err)
					}
				}
				if e.ID != "w1" || got.Code != c.want || (c.want == yes) != (e.Type == envelope.Event) {
					t.Errorf("got %s %s %s, want code %q", e.ID, e.Type, e.Body, c.want)
				}
				said, err := v.exchange(envelope.Envelope{ID: "m1", Type: envelope.Message, Room: c.asks, Body: wire.Body(wire.Say{Text: "let me in"})})
				posted := slices.Contains(p.Texts(), "bob: let me in")
				if (c.want == yes) != posted {
					t.Errorf("its message is in the room: %t", posted)
				}
				if c.want == no && err == nil {
					t.Errorf("a message that is not allowed was answered: %s", said.Body)
				}
				h.stop()
				if c.want == no && (h.server.Counts().Refused != 2 || len(h.audited) != 2 || h.audited[0].Status != "refused") {
					t.Errorf("refusals are counted %+v, and the audit has %+v", h.server.Counts(), h.audited)
				}
			})
		})
	}
}

// TestWatchUnpairedDevice checks that a device which is not paired any more gets
// no events.
func TestWatchUnpairedDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t)
		v := h.viewer("bob", identity.GrantObserver)
		h.server.Publish(newFakeRoom("r_1", room.Observer{Device: v.id.String()}))
		h.mu.Lock()
		delete(h.peers, v.id)
		h.mu.Unlock()
		e, err := v.exchange(envelope.Envelope{ID: "w1", Type: envelope.Watch, Body: wire.Body(wire.Subscribe{Last: 10})})
		if err == nil && e.Type != envelope.Error { // a real Link would not even send the error
			t.Errorf("an unpaired device got %s", e.Body)
		}
	})
}

// A fakeSeat records the violations of its device.
type fakeSeat struct{ violations chan string }

func (fakeSeat) Take(envelope.Envelope) bool { return false }
func (fakeSeat) PeerRestarted()              {}
func (s fakeSeat) Violation(code, _ string)  { s.violations <- code }

// TestMessageOfAgentDevice checks that an unsolicited message of a device whose
// agent has a seat is a violation of that seat, and is not posted.
func TestMessageOfAgentDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t)
		h.stop()
		v := h.viewer("bob", identity.GrantAgent)
		p := newFakeRoom("r_1", room.Observer{Device: v.id.String()})
		h.server = NewServer(ServerConfig{Peer: h.peer, Quota: h.quota})
		h.server.Publish(p)
		d := relay.NewDispatcher(h.id, h.hub.Connect(h.id), nil)
		d.Handle(h.server)
		run(t, d)
		seat := fakeSeat{make(chan string, 10)}
		d.Add(v.id, "theirs", seat)
		if e, err := v.exchange(envelope.Envelope{ID: "m1", Type: envelope.Message, Room: "r_1", Body: wire.Body(wire.Say{Text: "psst"})}); err == nil {
			t.Errorf("it was answered %s", e.Body)
		}
		if code := <-seat.violations; code != "unsolicited" {
			t.Errorf("the violation is %q", code)
		}
		if len(p.Texts()) > 0 {
			t.Errorf("the room has %q", p.Texts())
		}
	})
}
