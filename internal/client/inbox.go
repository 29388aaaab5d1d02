package client

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/folkmoot/moot/internal/inbox"
)

// Inbox returns what waits for a person in the rooms of the server, the oldest first.
func (c *Client) Inbox(ctx context.Context) ([]inbox.Item, error) {
	var out struct {
		Items []inbox.Item `json:"items"`
	}
	err := c.Call(ctx, http.MethodGet, "/api/inbox", nil, &out)
	return out.Items, err
}

// FollowInbox calls f with what waits, and then with each change, until the server
// ends or f returns an error.
func (c *Client) FollowInbox(ctx context.Context, f func(inbox.Change) error) error {
	return c.lines(ctx, "/api/inbox/changes", func(_ context.Context, line []byte) error {
		if len(line) == 0 {
			return nil // it only says that the server is there
		}
		var change inbox.Change
		if err := json.Unmarshal(line, &change); err != nil {
			return badAnswer("/api/inbox/changes", err)
		}
		return f(change)
	})
}

// LookEvery is how often FollowInboxes looks for processes that have begun to listen.
const LookEvery = time.Second

// A source is a process whose inbox is followed.
type source struct {
	name  string
	known map[string]bool // ids of its items
}

// A sourceChange is a change in one source, or the end of it.
type sourceChange struct {
	from   *source
	change inbox.Change
	ended  bool
	err    error
}

// FollowInboxes calls f with what waits in all processes that find returns by their
// names, and then with each change, one at a time, until ctx ends or f returns an
// error. With a process its items end. A process without a name is the only one, and
// its end is that of FollowInboxes.
func FollowInboxes(ctx context.Context, find func() (map[string]*Client, error), f func(inbox.Change) error) error {
	ctx, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer stop()
	sources, changes := map[string]*source{}, make(chan sourceChange)
	tick := time.NewTicker(LookEvery)
	defer tick.Stop()
	for {
		processes, err := find()
		if err != nil {
			return err
		}
		for name, c := range processes {
			if sources[name] != nil {
				continue
			}
			from := &source{name, map[string]bool{}}
			sources[name] = from
			group.Go(func() { c.followAs(ctx, from, changes) })
		}
		for looked := false; !looked; {
			select {
			case n := <-changes:
				if err := n.tell(f); err != nil {
					return err
				}
				if n.ended && n.from.name == "" {
					return n.err
				}
				if n.ended {
					delete(sources, n.from.name)
				}
			case <-tick.C:
				looked = true
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// followAs sends the changes of one process until it ends.
func (c *Client) followAs(ctx context.Context, from *source, changes chan<- sourceChange) {
	defer c.Close()
	send := func(n sourceChange) error {
		select {
		case changes <- n:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := c.FollowInbox(ctx, func(change inbox.Change) error { return send(sourceChange{from: from, change: change}) })
	_ = send(sourceChange{from: from, ended: true, err: err}) // unless ctx has ended
}

// tell calls f with a change, or with the end of each item of a process that has
// ended.
func (n sourceChange) tell(f func(inbox.Change) error) error {
	switch {
	case n.ended:
		for _, id := range slices.Sorted(maps.Keys(n.from.known)) {
			if err := f(inbox.Change{Ended: &inbox.Ended{ID: id}}); err != nil {
				return err
			}
		}
		return nil
	case n.change.Item != nil:
		n.from.known[n.change.Item.ID] = true
	case n.change.Ended != nil:
		delete(n.from.known, n.change.Ended.ID)
	}
	return f(n.change)
}
