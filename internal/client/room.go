package client

import (
	"context"
	"iter"
	"sync"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// A Room is a room that a server runs. Its methods are those of a room of this
// process, and safe for concurrent use.
type Room struct {
	// Lost, if not nil, is called when a stream of Watch has broken and is connected
	// again. Set it before Watch.
	Lost func(err error)

	client *Client
	id     string

	mu   sync.Mutex
	view room.View
}

// Room returns a room that the server runs or has stored.
func (c *Client) Room(ctx context.Context, id string) (*Room, error) {
	r := &Room{client: c, id: id}
	return r, r.refresh(ctx)
}

// ID returns the id of the room.
func (r *Room) ID() string { return r.id }

// View returns the room as it was at the last event that Watch has yielded, or
// later.
func (r *Room) View() room.View {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.view
}

// refresh reads the view again.
func (r *Room) refresh(ctx context.Context) error {
	s, err := r.client.Show(ctx, r.id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if v := s.Decode(); v.Seq >= r.view.Seq { // several watchers may read it
		r.view = v
	}
	return nil
}

// apply changes the view by an event that says whether the room runs, in place of
// refresh.
func (r *Room) apply(e room.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := &r.view
	v.Seq = max(v.Seq, e.Seq)
	switch b := e.Body.(type) {
	case room.Paused:
		v.Phase, v.Ending = room.PhasePaused, room.Ending{Cause: b.Cause, Name: b.Code, Reason: b.Reason}
	case room.Stopped:
		v.Phase, v.Ending = room.PhaseStopped, room.Ending{Cause: b.Cause, Name: b.Name, Reason: b.Reason}
	case room.Completed:
		v.Phase, v.Ending = room.PhaseCompleted, room.Ending{Cause: b.Cause, Reason: b.Reason, Degraded: b.Degraded}
	case room.Errored:
		v.Phase, v.Ending = room.PhaseError, room.Ending{Name: b.Code, Reason: b.Reason}
	case room.Resumed:
		v.Phase, v.Ending = room.PhaseLive, room.Ending{}
	}
}

// Do carries out a command. See [Client.Do].
func (r *Room) Do(ctx context.Context, c room.Command) ([]room.Event, error) {
	q, err := commandOf(c)
	if err != nil {
		return nil, err
	}
	return r.client.Do(ctx, r.id, q)
}

// commandOf returns the form of c. Of a policy it has the name, by which the server
// finds it.
func commandOf(c room.Command) (api.Command, error) {
	q, err := api.Command{Do: "policy"}, error(nil)
	if do, ok := c.Do.(room.SetPolicy); ok {
		q.Policy = do.Policy.Name
	} else if q, err = api.CommandOf(c.Do); err != nil {
		return q, err
	}
	q.ID = c.ID
	if c.Actor != room.ActorHost {
		q.As = c.Actor
	}
	return q, nil
}

// Watch yields the events after the one with seq after, first the stored ones and
// then the new ones, without gap or duplicate. If the connection breaks it connects
// again and goes on after the last event; it gives up when the server cannot be
// reached for half a minute. It ends with the room's run and with ctx. Live text may be
// left out.
func (r *Room) Watch(ctx context.Context, after int64, level room.Visibility) iter.Seq2[coordinator.Update, error] {
	return func(yield func(coordinator.Update, error) bool) {
		w := watch{room: r, at: after, level: level, yield: yield}
		if err := w.run(ctx); err != nil && ctx.Err() == nil {
			yield(coordinator.Update{}, err)
		}
	}
}
