package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
)

// A driver calls the endpoint of one driven seat.
type driver struct {
	Endpoint
	floor    *floor
	profile  string // "" when another device limits the profile
	profiles *Profiles
	slot     chan struct{} // holds a token while the endpoint has a prompt
}

// speak sends a prompt once its profile is free, and the endpoint has returned from
// the prompt before, which a pause may have cancelled just now. It waits for the
// reply. A panic of the endpoint becomes an error, so that it fails in its own room
// only.
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
	ctx, cancel := endpoint.WithClock(ctx, timeout)
	defer cancel()
	select {
	case d.slot <- struct{}{}:
		defer func() { <-d.slot }()
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return endpoint.Reply{}, err
	}
	defer d.floor.enter(ctx, p.Request)()
	for {
		reply, err := d.Speak(ctx, p, d.floor)
		if !errors.Is(err, endpoint.ErrSignIn) || !d.floor.signIn(ctx, err) {
			return reply, err
		}
	}
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
	if err = s.Start(ctx, d.floor); d.floor.called && errors.Is(err, endpoint.ErrSignIn) {
		return nil // its first turn asks the owner to sign in
	}
	return err
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
	s := &driver{Endpoint: e, floor: newFloor(r, x.Participant), profile: x.Profile, profiles: r.cfg.Profiles, slot: make(chan struct{}, 1)}
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
