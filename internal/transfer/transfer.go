// Package transfer copies rooms from one log into another, of any engine. A copy can be
// repeated: what is there already is compared and left as it is.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A Log is what is copied from and to.
type Log interface {
	log.Log
	Imported(ctx context.Context, room string) (bool, error)
	// PutBack stores a whole room with its chain, all of it or nothing. A room that exists
	// is [log.ErrConflict].
	PutBack(ctx context.Context, room string, entries []log.Entry, wake time.Time, imported bool) error
}

// Config says what is copied. All of From is: rooms, blobs and charges, but no snapshots,
// which are made again.
type Config struct {
	From, To Log
	Move     bool               // remove each room from From when its copy has been verified
	Progress func(done, of int) // of the rooms; may be nil. It is called by one goroutine at a time
}

// An Outcome is what became of a room.
type Outcome string

const (
	Copied  Outcome = "copied"
	Present Outcome = "present" // To has it, with the same chain
	Held    Outcome = "held"    // a process uses it
	Refused Outcome = "refused" // it is damaged, or To has another room of that id
)

// A Room is what became of one room.
type Room struct {
	Room    string  `json:"room"`
	Events  int     `json:"events"`
	Hash    string  `json:"hash,omitempty"` // of the chain at its end
	Outcome Outcome `json:"outcome"`
	Removed bool    `json:"removed,omitempty"` // from From
	Problem string  `json:"problem,omitempty"` // why it was not copied

	err error
}

// A Result is what a copy has done. After an error it is what was done before.
type Result struct {
	Rooms   []Room `json:"rooms"`
	Blobs   int    `json:"blobs"`   // that To did not have
	Charges int    `json:"charges"` // of agents, that To did not have
}

// Count returns the number of rooms with an outcome, and of their events.
func (r *Result) Count(o Outcome) (rooms, events int) {
	for i := range r.Rooms {
		if r.Rooms[i].Outcome == o {
			rooms, events = rooms+1, events+r.Rooms[i].Events
		}
	}
	return rooms, events
}

// Err joins one error for each room that To does not have now.
func (r *Result) Err() error {
	var errs []error
	for i := range r.Rooms {
		errs = append(errs, r.Rooms[i].err)
	}
	return errors.Join(errs...)
}

// lockName is the lock that a copy holds in both logs. It is the id of no room.
const lockName = "moot log copy"

// workers is how many rooms are copied at once: a server needs several round trips for each.
const workers = 8

// Run copies. An error is of the logs, and ends the copy: To then has whole rooms only, and
// a further Run goes on. Rooms that could not be copied are in [Result.Err].
func Run(ctx context.Context, c Config) (Result, error) {
	done := Result{Rooms: []Room{}}
	unlock, err := c.lock(ctx)
	if err != nil {
		return done, err
	}
	defer unlock()
	infos, err := c.From.Rooms(ctx)
	if err != nil && (infos == nil || !errors.Is(err, log.ErrCorrupt)) { // damage of single rooms is in infos
		return done, err
	}
	if done.Blobs, err = c.blobs(ctx); err != nil {
		return done, err
	}
	if done.Charges, err = c.charges(ctx); err != nil {
		return done, err
	}
	done.Rooms, err = c.rooms(ctx, infos)
	return done, err
}

// lock refuses a copy of a log into itself, and a second copy at the same time.
func (c *Config) lock(ctx context.Context) (unlock func(), err error) {
	from, err := c.From.Lock(ctx, lockName)
	if err != nil {
		return nil, err
	}
	to, err := c.To.Lock(ctx, lockName)
	if err != nil {
		from()
		if errors.Is(err, log.ErrLocked) {
			err = &problem.Error{
				Code: "LOG-LOCKED", What: "both are the same log, or another copy uses the second one", Kind: log.ErrLocked,
				Fix: "name two logs, and wait for the other copy",
			}
		}
		return nil, err
	}
	return func() { to(); from() }, nil
}

// rooms copies the rooms, and returns those that it has come to, by id.
func (c *Config) rooms(ctx context.Context, infos []log.Info) ([]Room, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	all := make([]Room, len(infos))
	var (
		mu             sync.Mutex
		next, finished int
		wg             sync.WaitGroup
	)
	take := func(after int) (i int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if finished += after; c.Progress != nil {
			c.Progress(finished, len(infos))
		}
		if ctx.Err() != nil || next == len(infos) {
			return 0, false
		}
		next++
		return next - 1, true
	}
	for range workers {
		wg.Go(func() {
			for i, ok := take(0); ok; i, ok = take(1) {
				// A write that was given up may still happen: a room that was begun is finished.
				r, err := c.room(context.WithoutCancel(ctx), infos[i])
				if err != nil {
					cancel(fmt.Errorf("copying room %s: %w", infos[i].Room, err))
					return
				}
				all[i] = r
			}
		})
	}
	wg.Wait()
	reached := []Room{}
	for _, r := range all {
		if r.Room != "" {
			reached = append(reached, r)
		}
	}
	return reached, context.Cause(ctx)
}

// blobs copies the blobs that To does not have.
func (c *Config) blobs(ctx context.Context) (copied int, err error) {
	digests, err := c.From.Digests(ctx)
	if err != nil {
		return 0, err
	}
	for _, digest := range digests {
		if _, err := c.To.Blob(ctx, digest); err == nil {
			continue
		}
		content, err := c.From.Blob(ctx, digest)
		if errors.Is(err, log.ErrCorrupt) {
			continue // its rooms get the module again when they run, or say that it is missing
		}
		if err == nil {
			_, err = c.To.PutBlob(ctx, content)
		}
		if err != nil {
			return copied, fmt.Errorf("copying blob %s: %w", digest, err)
		}
		copied++
	}
	return copied, nil
}

// charges copies what agents have used. A charge that To has stays, unless it is open there
// and settled here.
func (c *Config) charges(ctx context.Context) (copied int, err error) {
	agents, err := c.From.Agents(ctx)
	for _, agent := range agents {
		if err != nil {
			break
		}
		var n int
		n, err = c.chargesOf(ctx, agent)
		copied += n
	}
	if err != nil {
		err = fmt.Errorf("copying what agents have used: %w", err)
	}
	return copied, err
}

func (c *Config) chargesOf(ctx context.Context, agent string) (copied int, err error) {
	ours, err := c.From.Charges(ctx, agent, time.Time{})
	if err != nil {
		return 0, err
	}
	theirs, err := c.To.Charges(ctx, agent, time.Time{})
	if err != nil {
		return 0, err
	}
	has := map[string]bool{} // whether it is open
	for _, charge := range theirs {
		has[charge.ID] = charge.Open
	}
	for _, charge := range ours {
		open, ok := has[charge.ID]
		switch {
		case ok && (!open || charge.Open):
			continue
		case charge.Open:
			_, err = c.To.Reserve(ctx, charge, time.Time{}, func([]room.BudgetCharge) bool { return true })
		default:
			err = c.To.Settle(ctx, charge)
		}
		if err != nil {
			return copied, err
		}
		copied++
	}
	return copied, nil
}
