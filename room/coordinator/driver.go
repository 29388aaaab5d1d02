package coordinator

import (
	"context"
	"fmt"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// A driver is the endpoint of a driven participant and the floor it speaks to.
type driver struct {
	Endpoint
	floor    *floor
	profile  string
	profiles *Profiles
}

// speak hands over a prompt. One request is in flight per profile. An endpoint
// that panics has failed; other rooms do not hear of it.
func (s *driver) speak(ctx context.Context, p endpoint.Prompt, timeout time.Duration) (reply endpoint.Reply, err error) {
	defer func() {
		if v := recover(); v != nil {
			reply, err = endpoint.Reply{}, fmt.Errorf("the endpoint panicked: %v", v)
		}
	}()
	release, err := s.profiles.acquire(ctx, s.profile)
	if err != nil {
		return endpoint.Reply{}, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return endpoint.Reply{}, err
	}
	return s.Speak(ctx, p, s.floor)
}

// endpointFor returns the endpoint of a participant, opened when it is first used.
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
		s.profile = "" // its own device sees to that; the profile is who asks
	}
	r.endpoints[id] = s
	return s, nil
}

// closeEndpoint ends the endpoint of a seat whose standing has changed; the next
// turn opens another.
func (r *Room) closeEndpoint(id string) {
	if s, ok := r.endpoints[id]; ok {
		delete(r.endpoints, id)
		r.effects.Go(func() { s.Close() })
	}
}

// A floor is one participant's way to the room.
type floor struct {
	room        *Room
	participant string
}

// Raise reports s to the loop and waits for its answer.
func (f *floor) Raise(ctx context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	var do room.Act
	switch s.Kind {
	case endpoint.SignalMessage:
		do = room.Posted{Message: room.Message{To: s.To, Text: s.Detail}}
	case endpoint.SignalViolation:
		do = room.Violated{Participant: f.participant, Code: s.Code, Detail: s.Detail}
	case endpoint.SignalForgot:
		do = room.Forgot{Participant: f.participant}
	case endpoint.SignalLate:
		do = room.Replied{Participant: f.participant, Request: s.Code, Text: s.Detail}
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
