package relay

import (
	"context"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// tickEvery is how often a share says that a request is being worked on: at
// times that depend on nothing but when it came, so that they tell whoever
// counts frames nothing of what the agent does.
const tickEvery = 2 * time.Second

// A status is the body of a status: of a device, or of a request by its id.
type status struct {
	State string `json:"state,omitempty"`
}

const (
	stateThinking = "thinking"
	stateAnew     = "anew" // what was told before is not known: by any agent of the device, or by the one that is named
)

// sign is what a watcher sees of a tick.
const sign = "·"

// ticking tells the device that asked w that it is being worked on, until
// quiet is called; after that no tick leaves. One that has not arrived stands
// for those that were due meanwhile: a network that is cut gets one, not one
// every two seconds.
func (s *Share) ticking(ctx context.Context, w *work) (quiet func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // quiet waits for it
		defer close(done)
		s.tick(ctx, w)
	}()
	return func() { cancel(); <-done }
}

func (s *Share) tick(ctx context.Context, w *work) {
	b, err := envelope.Encode(envelope.Envelope{ID: w.ask.ID, Type: envelope.Status, Body: body(status{State: stateThinking})})
	if err != nil {
		return // an id that was decoded can be written
	}
	every := time.NewTicker(tickEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		s.mu.Lock()
		asked := !w.forgotten
		s.mu.Unlock()
		if asked {
			_ = s.post.link.Send(ctx, w.from, b) // what is lost was of that moment
		}
	}
}

// met is told that a device was started again, or has given this one up. It
// hears of its requests when it asks again.
func (s *Share) met(from identity.DeviceID) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.running {
		if w.from == from {
			w.forgotten = true
		}
	}
}

// status hands what a device says of a request to the seat that asked.
func (p *Post) status(from identity.DeviceID, e envelope.Envelope) {
	var v status
	if err := e.DecodeBody(&v); err != nil {
		p.violation(from, e.Profile, "bad_frame", err.Error())
		return
	}
	switch v.State {
	case "": // the device is there
	case stateAnew:
		for _, seat := range p.seatsOf(from) {
			seat.anew(e.Profile, e.Room)
		}
	case stateThinking:
		for _, seat := range p.seatsOf(from) {
			if seat.thinks(e.ID) {
				return
			}
		}
		p.violation(from, e.Profile, "unknown_request", "work on "+quote(e.ID)+", which is no request of this device")
	default:
		p.violation(from, e.Profile, "bad_status", "its state is "+quote(v.State))
	}
}

// thinks shows that the agent is at work on a request, if that is this seat's.
// Of one that was given up nothing is shown, and its end is still on its way.
func (e *Endpoint) thinks(id string) bool {
	e.mu.Lock()
	var floor endpoint.Floor
	how, ended := e.past.state(id)
	switch x := e.open; {
	case x != nil && x.prompt.Request == id:
		if now := time.Now(); now.Sub(x.shown) >= tickEvery/2 { // whatever its device does
			x.shown, floor = now, e.floor
		}
	case !ended:
		e.mu.Unlock()
		return false
	case how == answered:
		e.notes.put(violation("late_status", "work on "+quote(id)+", which has been answered"))
	}
	e.mu.Unlock()
	if floor != nil {
		floor.Show(sign)
	}
	return true
}
