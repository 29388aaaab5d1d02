package coordinator

import (
	"context"
	"fmt"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// A driver calls the endpoint of one driven seat.
type driver struct {
	Endpoint
	floor    *floor
	profile  string // "" when another device limits the profile
	profiles *Profiles
}

// speak sends a prompt once its profile is free and waits for the reply. A
// panic of the endpoint becomes an error, so that it fails in its own room only.
func (d *driver) speak(ctx context.Context, p endpoint.Prompt, timeout time.Duration) (reply endpoint.Reply, err error) {
	defer func() {
		if v := recover(); v != nil {
			reply, err = endpoint.Reply{}, fmt.Errorf("the endpoint panicked: %v", v)
		}
	}()
	release, err := d.profiles.acquire(ctx, d.profile)
	if err != nil {
		return endpoint.Reply{}, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return endpoint.Reply{}, err
	}
	return d.Speak(ctx, p, d.floor)
}

// start waits until the agent is ready for a prompt. An endpoint without a start
// phase is ready at once.
func (d *driver) start(ctx context.Context, timeout time.Duration) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the endpoint panicked: %v", v)
		}
	}()
	s, ok := d.Endpoint.(Starter)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return s.Start(ctx, d.floor)
}

// endpointFor returns the driver of a participant and opens its endpoint on the
// first use.
func (r *Room) endpointFor(ctx context.Context, id string) (*driver, error) {
	if s, ok := r.endpoints[id]; ok {
		return s, nil
	}
	x, ok := r.state.Seat(id)
	if !ok {
		return nil, &problem.Error{Code: "ROOM-UNKNOWN", What: "no participant " + id}
	}
	e, err := r.cfg.Endpoint(ctx, r.state.Spec, x.Participant)
	if err != nil {
		return nil, err
	}
	s := &driver{Endpoint: e, floor: &floor{room: r, participant: id}, profile: x.Profile, profiles: r.cfg.Profiles}
	if x.Device != "" {
		s.profile = "" // the other device limits its profiles itself
	}
	r.endpoints[id] = s
	return s, nil
}

// closeEndpoint closes the endpoint of a seat whose standing has changed. The
// next turn opens another.
func (r *Room) closeEndpoint(id string) {
	if s, ok := r.endpoints[id]; ok {
		delete(r.endpoints, id)
		r.effects.Go(func() { s.Close() })
	}
}

// A floor lets one endpoint raise signals in the room; see [endpoint.Floor].
type floor struct {
	room        *Room
	participant string
}

// Raise gives s to the loop as a command and waits for its result.
func (f *floor) Raise(ctx context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	var do room.Act
	switch s.Kind {
	case endpoint.SignalMessage:
		do = room.Posted{Message: room.Message{To: s.To, Text: s.Detail}}
	case endpoint.SignalViolation:
		do = room.Violated{Participant: f.participant, Code: s.Code, Detail: s.Detail}
	case endpoint.SignalForgot:
		do = room.Forgot{Participant: f.participant}
	case endpoint.SignalExited:
		do = room.Exited{Participant: f.participant, Code: s.Code, Error: s.Detail}
	case endpoint.SignalLate:
		do = room.Replied{Participant: f.participant, Request: s.Code, Reply: endpoint.Reply{Text: s.Detail}}
	default:
		return endpoint.Answer{Reason: "not allowed in this room"}, nil
	}
	out := make(chan answer, 1)
	select {
	case f.room.work <- request{cmd: room.Command{Actor: f.participant, Do: do}, out: out}:
	case <-f.room.quit:
		return endpoint.Answer{}, ErrClosed
	case <-ctx.Done():
		return endpoint.Answer{}, ctx.Err()
	}
	select {
	case a := <-out:
		if a.err != nil {
			return endpoint.Answer{Reason: a.err.Error()}, nil
		}
		return endpoint.Answer{Allowed: true}, nil
	case <-f.room.quit:
		return endpoint.Answer{}, ErrClosed
	case <-ctx.Done():
		return endpoint.Answer{}, ctx.Err()
	}
}

// Show passes live text to watchers.
func (f *floor) Show(delta string) {
	f.room.hub.tell(Update{Participant: f.participant, Delta: delta})
}
