package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/invariant"
)

// pause waits for a while, or until ctx ends.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// running returns the room in the process that runs.
func (w *simulated) running(ctx context.Context) (*coordinator.Room, error) {
	w.mu.Lock()
	h := w.host
	w.mu.Unlock()
	return h.Get(ctx, "r1")
}

// person gives commands, and repeats those of which it does not know the result.
func (w *simulated) person(ctx context.Context, who string, rng *rand.Rand) {
	for n := 0; pause(ctx, time.Duration(rng.IntN(8000))*time.Millisecond); n++ {
		r, err := w.running(ctx)
		if err != nil {
			continue
		}
		c := room.Command{ID: fmt.Sprintf("%s-%d", who, n), Actor: who, Do: w.act(r.View(), rng)}
		for again := true; again; {
			again = w.give(ctx, c) || rng.IntN(8) == 0
			if again {
				w.meet("command that is repeated")
				again = pause(ctx, time.Duration(1+rng.IntN(3000))*time.Millisecond)
			}
		}
	}
}

// give gives a command when nothing else moves, so that it comes before or after what
// agents do, and not at the same time. It reports whether its result is unknown.
func (w *simulated) give(ctx context.Context, c room.Command) (again bool) {
	w.turn <- struct{}{}
	synctest.Wait()
	<-w.turn
	w.mu.Lock()
	h := w.host
	w.mu.Unlock()
	evs, err := h.Do(ctx, "r1", c)
	if err == nil && len(evs) > 0 {
		w.mu.Lock()
		defer w.mu.Unlock()
		last := evs[len(evs)-1].Seq
		w.note(func(c *invariant.Checker, _ *room.State) []invariant.Broken { return c.Acknowledged(last) })
	}
	return errors.Is(err, errDead) || errors.Is(err, coordinator.ErrClosed) || errors.Is(err, context.Canceled)
}

// act draws what a person does in a room.
func (w *simulated) act(v room.View, rng *rand.Rand) room.Act {
	seat := v.Seats[rng.IntN(5)].ID
	switch v.Phase {
	case room.PhaseLive:
	case room.PhaseStopped:
		return room.SetLimits{Limits: v.Raised}
	default:
		return room.Resume{}
	}
	if d := v.Draft; d != nil && rng.IntN(2) == 0 {
		return []room.Act{room.Approve{Draft: d.Hash}, room.Approve{Draft: d.Hash}, room.Reject{Draft: d.Hash}, room.Edit{Draft: d.Hash, Text: "better"}, room.Edit{Draft: d.Hash, Text: "best", Approve: true}}[rng.IntN(5)]
	}
	if len(v.Requests) > 0 {
		return room.Permit{ID: v.Requests[0].ID, Allowed: rng.IntN(2) == 0}
	}
	switch n := rng.IntN(100); {
	case n < 30:
		return room.Say{Text: fmt.Sprintf("a, what about %d?", n)}
	case n < 38:
		return room.Pause{}
	case n < 48:
		return room.TakeOver{Participant: seat}
	case n < 58:
		return room.Say{Text: fmt.Sprintf("for %s: %d", seat, n), As: seat}
	case n < 66:
		return room.Release{Participant: seat}
	case n < 72:
		return room.SetMode{Participant: seat, Mode: []room.Mode{"", room.Manual, room.FullAuto}[rng.IntN(3)]}
	case n < 80:
		return room.SetStanding{Participant: seat, Standing: []room.Standing{room.Active, room.Active, room.Suspended, room.Muted}[rng.IntN(4)]}
	case n < 88:
		return room.Next{Participant: seat}
	case n < 92:
		l := v.Limits
		l.MaxTurns = v.Tally.Turns + rng.IntN(20)
		return room.SetLimits{Limits: l}
	case n < 95:
		return room.SetPolicy{Policy: room.PolicyRef{Use: "rotate", Name: "rotate", Digest: fmt.Sprint("d", n)}}
	case n == 95:
		return room.Complete{}
	case n <= 97:
		return room.Redact{Target: 1 + rng.Int64N(v.Seq)}
	}
	return room.Say{Text: "b, look", To: "b"}
}

// watch watches the room, and now and then connects again.
func (w *simulated) watch(ctx context.Context, name string, level room.Visibility, rng *rand.Rand) {
	after := int64(0)
	for pause(ctx, time.Duration(1+rng.IntN(5000))*time.Millisecond) {
		r, err := w.running(ctx)
		if err != nil {
			continue
		}
		w.mu.Lock()
		from := after
		w.note(func(c *invariant.Checker, _ *room.State) []invariant.Broken { c.Watches(name, level, from); return nil })
		w.met["watcher that reconnects"]++
		w.mu.Unlock()
		left := 1 + rng.IntN(60)
		for u, err := range r.Watch(ctx, after, level) {
			if err != nil {
				break
			}
			if u.Event == nil {
				continue
			}
			e := *u.Event
			w.mu.Lock()
			after = e.Seq
			w.note(func(c *invariant.Checker, _ *room.State) []invariant.Broken { return c.Shown(name, e) })
			w.mu.Unlock()
			if left--; left == 0 {
				break
			}
		}
	}
}

// A simulatedAgent is the agent of a seat.
type simulatedAgent struct {
	w    *simulated
	seat room.Participant
}

func (w *simulated) endpoint(_ context.Context, _ room.Spec, p room.Participant) (coordinator.Endpoint, error) {
	if p.Starts {
		return simulatedProcess{simulatedAgent{w, p}}, nil
	}
	return simulatedAgent{w, p}, nil
}

func (simulatedAgent) Close() error { return nil }

// A simulatedProcess is an agent that has to start.
type simulatedProcess struct{ simulatedAgent }

func (a simulatedProcess) Start(ctx context.Context, _ endpoint.Floor) error {
	rng := a.w.random("start", time.Now().UnixNano())
	switch {
	case !pause(ctx, time.Duration(rng.IntN(12_000))*time.Millisecond):
		return ctx.Err()
	case rng.IntN(6) == 0:
		return endpoint.ErrAgent
	}
	return nil
}

// Speak gets a prompt. Another device answers a request that it knows from its record.
func (a simulatedAgent) Speak(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
	text, known, sent := a.receive(ctx, p)
	if !sent {
		return endpoint.Reply{}, ctx.Err()
	}
	if known {
		return endpoint.Reply{Outcome: endpoint.Said, Text: text}, nil
	}
	rng := a.w.random("turn", p.Turn, p.Request)
	reply, err := a.work(ctx, rng, p, f)
	if a.seat.Device != "" && err == nil {
		a.w.mu.Lock()
		a.w.answers[p.Request] = reply.Text
		a.w.mu.Unlock()
	}
	return reply, err
}

// receive notes that a prompt has left, unless it was cancelled before.
func (a simulatedAgent) receive(ctx context.Context, p endpoint.Prompt) (text string, known, sent bool) {
	w, id := a.w, a.seat.ID
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() != nil {
		return "", false, false
	}
	w.note(func(c *invariant.Checker, _ *room.State) []invariant.Broken { return c.Sent(p.Request, id) })
	if a.seat.Device != "" && w.released[p.Request] {
		w.met["request that is sent again"]++
		return w.answers[p.Request], true, true
	}
	w.released[p.Request] = true
	w.note(func(c *invariant.Checker, _ *room.State) []invariant.Broken { return c.Executed(p.Request) })
	return "", false, true
}

// work is what an agent does with a prompt.
func (a simulatedAgent) work(ctx context.Context, rng *rand.Rand, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
	a.signal(ctx, rng, f)
	said := endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprintf("%s says %d", a.seat.ID, rng.IntN(1000))}
	if rng.IntN(3) == 0 {
		sure := rng.Float64()
		said.Confidence = &sure
	}
	if rng.IntN(6) == 0 {
		said.Handoff = &endpoint.Handoff{To: "a", Reason: "it knows"}
	}
	switch n := rng.IntN(40); {
	case n == 0: // it does not answer in time, and not to its end either
		time.Sleep(5 * time.Minute)
		return said, nil
	case n == 1:
		<-ctx.Done()
		return endpoint.Reply{}, endpoint.ErrTimeout
	case n == 2:
		return endpoint.Reply{}, endpoint.ErrExited
	case n < 6:
		return endpoint.Reply{}, endpoint.ErrAgent
	case n == 6:
		return endpoint.Reply{}, endpoint.ErrProtocol
	case n < 12:
		return endpoint.Reply{Outcome: endpoint.Passed, Reason: "nothing to add"}, nil
	case !pause(ctx, time.Duration(rng.IntN(9000))*time.Millisecond):
		return endpoint.Reply{}, ctx.Err()
	}
	return said, nil
}

// signal raises what an agent says before it answers. The answers do not matter.
func (a simulatedAgent) signal(ctx context.Context, rng *rand.Rand, f endpoint.Floor) {
	s := endpoint.Signal{}
	switch rng.IntN(12) {
	case 0:
		s = endpoint.Signal{Kind: endpoint.SignalPermission, Permission: &endpoint.Permission{ID: "t", Kind: "execute", Command: "make"}}
	case 1:
		s = endpoint.Signal{Kind: endpoint.SignalMessage, To: "b", Detail: "a word"}
	case 2:
		s = endpoint.Signal{Kind: endpoint.SignalMessage, Post: &endpoint.Post{ID: fmt.Sprint("n", rng.IntN(1<<30)), To: "a", Text: "take note", RequiresAck: true}}
	case 3:
		s = endpoint.Signal{Kind: endpoint.SignalViolation, Code: "noise"}
	case 4:
		s = endpoint.Signal{Kind: endpoint.SignalLate, Code: "gone", Detail: "late"}
	case 5:
		s = endpoint.Signal{Kind: endpoint.SignalForgot}
	case 6, 7:
		if r, err := a.w.running(ctx); err == nil {
			mail := r.Mail()
			for _, d := range mail.Deliveries.Pending(a.seat.ID) {
				s = endpoint.Signal{Kind: endpoint.SignalAck, Of: []string{d.Message}}
			}
		}
	}
	if s.Kind != "" {
		f.Raise(ctx, s)
	}
}
