package relay

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/room"
)

// TestObserveDefaultDeny: a room is shown to a device with the grant that the
// room lists or whose invite names it, and to nobody else. Nobody else's
// message is in the room either, or changes what they learn: a room that there
// is looks like one that there is not.
func TestObserveDefaultDeny(t *testing.T) {
	const yes, no = "", verdictDenied
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
		{"observer, listed for more", identity.GrantObserver, nil, listed(room.UserRedacted), "r_1", yes},
		{"observer of that room, unlisted", identity.GrantObserver, inRoom("r_1"), unlisted, "r_1", yes},
		{"observer of that room, listed", identity.GrantObserver, inRoom("r_1"), listed(room.UserRedacted), "r_1", yes},

		{"observer, unlisted", identity.GrantObserver, nil, unlisted, "r_1", no},
		{"observer, unlisted, the only room", identity.GrantObserver, nil, unlisted, "", no},
		{"observer, another listed", identity.GrantObserver, nil, func(identity.DeviceID) []room.Observer { return listed("")(newID(t)) }, "r_1", no},
		{"observer of another room, listed", identity.GrantObserver, inRoom("r_2"), listed(""), "r_1", no},
		{"observer of another room, which it asks for", identity.GrantObserver, inRoom("r_2"), unlisted, "r_2", no},
		{"observer, listed, of no such room", identity.GrantObserver, nil, listed(""), "r_3", no},
		{"observer, listed for all", identity.GrantObserver, nil, listed(room.Internal), "r_1", no},
		{"observer, listed for what there is not", identity.GrantObserver, nil, listed("everything"), "r_1", no},
		{"agent, listed", identity.GrantAgent, nil, listed(""), "r_1", no},
		{"agent of that room, listed", identity.GrantAgent, inRoom("r_1"), listed(""), "r_1", no},
		{"no grant, listed", 0, nil, listed(""), "r_1", no},
		{"a grant that there is not, listed", 3, nil, listed(""), "r_1", no},
		{"suspended", identity.GrantObserver, func(p *identity.Peer) { p.Changed = time.Now() }, listed(""), "r_1", no},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t)
				edit := []func(*identity.Peer){}
				if c.edit != nil {
					edit = append(edit, c.edit)
				}
				v := h.visitor("bob", c.grant, edit...)
				p := newPlay("r_1", c.lists(v.id)...)
				h.gallery.Show(p)
				e, err := v.tells(envelope.Envelope{ID: "w1", Type: envelope.Watch, Room: c.asks, Body: body(wish{Last: 100})})
				if err != nil {
					t.Fatal(err)
				}
				var got verdict
				if e.Type == envelope.Error {
					if err := e.DecodeBody(&got); err != nil {
						t.Fatal(err)
					}
				}
				if e.ID != "w1" || got.Code != c.want || (c.want == yes) != (e.Type == envelope.Event) {
					t.Errorf("got %s %s %s, want code %q", e.ID, e.Type, e.Body, c.want)
				}
				said, err := v.tells(envelope.Envelope{ID: "m1", Type: envelope.Message, Room: c.asks, Body: body(words{"let me in"})})
				posted := slices.Contains(p.texts(), "bob: let me in")
				if (c.want == yes) != posted {
					t.Errorf("what it said is in the room: %t", posted)
				}
				if c.want == no && err == nil {
					t.Errorf("a message that is not allowed was answered: %s", said.Body)
				}
				h.stop()
				if c.want == no && (h.gallery.Counts().Refused != 2 || len(h.observed) != 2 || h.observed[0].Status != "refused") {
					t.Errorf("refusals are counted %+v, and the audit has %+v", h.gallery.Counts(), h.observed)
				}
			})
		})
	}
}

// TestObserveStranger: a device that is not paired any more is told nothing.
func TestObserveStranger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		v := h.visitor("bob", identity.GrantObserver)
		h.gallery.Show(newPlay("r_1", room.Observer{Device: v.id.String()}))
		h.mu.Lock()
		delete(h.peers, v.id)
		h.mu.Unlock()
		e, err := v.tells(envelope.Envelope{ID: "w1", Type: envelope.Watch, Body: body(wish{Last: 10})})
		if err == nil && e.Type != envelope.Error { // the Link, which a hub is not, does not even carry that
			t.Errorf("a stranger was told %s", e.Body)
		}
	})
}

// TestObserveAgentMessage: a message out of nowhere of a device whose agent has
// a seat is counted against that seat, and said by nobody.
func TestObserveAgentMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.stop()
		v := h.visitor("bob", identity.GrantAgent)
		p := newPlay("r_1", room.Observer{Device: v.id.String()})
		h.gallery = NewGallery(GalleryConfig{Peer: h.peer, Gate: h.gate})
		h.gallery.Show(p)
		post := NewPost(h.id, h.hub.plug(h.id), nil, nil)
		post.ServeGallery(h.gallery)
		run(t, post)
		seat := New(EndpointConfig{Post: post, Device: v.id, Remote: "theirs", Profile: open("mine", v.id), Gate: h.gate})
		defer seat.Close()
		fl := newFloor()
		seat.mu.Lock()
		seat.floor = fl
		seat.mu.Unlock()
		if e, err := v.tells(envelope.Envelope{ID: "m1", Type: envelope.Message, Room: "r_1", Body: body(words{"psst"})}); err == nil {
			t.Errorf("it was answered %s", e.Body)
		}
		if s := <-fl.news; s.Kind != endpoint.SignalViolation || s.Code != "unsolicited" {
			t.Errorf("the room was told %+v", s)
		}
		if len(p.texts()) > 0 {
			t.Errorf("the room has %q", p.texts())
		}
	})
}
