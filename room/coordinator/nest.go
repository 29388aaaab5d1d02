package coordinator

import (
	"context"
	"errors"
	"sync"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A nest runs the child rooms of one room. They are loaded as long as that room is: by
// the Host of the room, or by one of its own if it has none.
type nest struct {
	host *Host // nil until it is needed in a room without one

	mu     sync.Mutex
	opened map[string]bool
	busy   map[string]chan struct{} // semaphore of each child room, for the effects of its call
	own    context.CancelFunc       // ends the own Host
	ended  sync.WaitGroup
	closed bool
}

// enter waits until no other effect uses the child room. The caller calls leave when it
// does not use the room any more.
func (n *nest) enter(ctx context.Context, child string) (leave func(), err error) {
	n.mu.Lock()
	if n.busy == nil {
		n.busy = map[string]chan struct{}{}
	}
	slot, ok := n.busy[child]
	if !ok {
		slot = make(chan struct{}, 1)
		n.busy[child] = slot
	}
	n.mu.Unlock()
	select {
	case slot <- struct{}{}:
		return func() { <-slot }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// openChild opens the child room of a call, which it makes and gives the task if it does
// not exist.
func (n *nest) openChild(ctx context.Context, cfg Config, c child) (*Room, error) {
	h, err := n.hostFor(cfg, c.call.Room)
	if err != nil {
		return nil, err
	}
	return h.load(ctx, c.call.Room, func(ctx context.Context) (*Room, error) {
		o := RunOptions{Foreground: true, Unattended: cfg.Headless || cfg.Unattended}
		return openChild(ctx, h.configOf(o), c)
	})
}

// hostFor returns the Host that runs child rooms, and notes that it runs this one.
func (n *nest) hostFor(cfg Config, child string) (*Host, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, ErrClosed
	}
	if n.opened == nil {
		n.opened = map[string]bool{}
	}
	n.opened[child] = true
	if n.host == nil {
		ctx, stop := context.WithCancel(context.Background())
		n.host, n.own = &Host{Config: cfg}, stop
		n.host.start()
		n.ended.Go(func() { _ = n.host.Run(ctx) }) // it ends with ctx only
	}
	return n.host, nil
}

// running returns the Host that runs child rooms, nil if there was none yet.
func (n *nest) running() *Host {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.host
}

// close ends the child rooms and waits for them: their agents end with the room that
// called them.
func (n *nest) close() {
	n.mu.Lock()
	n.closed = true
	h, own, opened := n.host, n.own, n.opened
	n.mu.Unlock()
	if h == nil {
		return
	}
	if own != nil {
		own()
		n.ended.Wait()
		return
	}
	for id := range opened {
		h.unload(id)
	}
}

// openChild opens a child room, or makes it and gives its agent the task. A crash may
// have come before the task.
func openChild(ctx context.Context, cfg Config, c child) (*Room, error) {
	r, err := Reopen(ctx, cfg, c.call.Room)
	if errors.Is(err, log.ErrNotFound) {
		of := *c.spec.Call
		if of.Context, err = c.brief.context(ctx, cfg.Log); err != nil {
			return nil, err
		}
		c.spec.Call = &of
		r, err = Open(ctx, cfg, c.spec, c.seats)
	}
	if err != nil {
		return nil, err
	}
	if r.state.Tally.Messages == 0 && c.call.Request != nil {
		if err := r.decideAndCommit(ctx, room.ActorRoom, room.GiveTask{Text: c.brief.args.Task, Input: policy.JSON(c.brief.args.Input)}); err != nil {
			r.unlock()
			return nil, err
		}
	}
	return r, nil
}
