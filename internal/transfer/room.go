package transfer

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// room copies one room. An error is one that other rooms would meet too.
func (c *Config) room(ctx context.Context, info log.Info) (Room, error) {
	r := Room{Room: info.Room}
	entries, unlock, err := c.take(ctx, info)
	if err != nil {
		return r.failed(err)
	}
	defer unlock()
	r.Events = len(entries)
	end := entries[len(entries)-1].Hash
	r.Hash = hex.EncodeToString(end[:])
	// A process that uses To does not run the room before it is removed here.
	held, err := c.To.Lock(ctx, info.Room)
	if err == nil {
		defer held()
	} else if !errors.Is(err, log.ErrLocked) {
		return r, err
	}
	r.Outcome, err = c.put(ctx, info, entries)
	if err == nil {
		err = c.compare(ctx, info.Room, entries)
	}
	if err == nil && c.Move {
		err = c.From.Remove(ctx, info.Room)
		r.Removed = err == nil
	}
	if err != nil {
		return r.failed(err)
	}
	return r, nil
}

// failed returns the room with an error that concerns no other room, and other errors.
func (r Room) failed(err error) (Room, error) {
	coded, ok := errors.AsType[*problem.Error](err)
	switch {
	case errors.Is(err, log.ErrLocked):
		r.Outcome = Held
	case errors.Is(err, log.ErrCorrupt), errors.Is(err, log.ErrConflict), ok && (coded.Code == "LOG-NEWER" || coded.Code == "LOG-EVENT"):
		r.Outcome = Refused
	default:
		return r, err
	}
	r.err, r.Problem = err, err.Error()
	return r, nil
}

// take locks a room of From and reads it.
func (c *Config) take(ctx context.Context, info log.Info) (entries []log.Entry, unlock func(), err error) {
	if info.Damage != nil {
		return nil, nil, info.Damage
	}
	if unlock, err = c.From.Lock(ctx, info.Room); err != nil {
		return nil, nil, err
	}
	for e, err := range log.Scan(ctx, c.From, info.Room, log.Pos{}) {
		if err != nil && !errors.Is(err, log.ErrNotFound) {
			unlock()
			return nil, nil, err
		}
		if err == nil {
			entries = append(entries, e)
		}
	}
	if len(entries) == 0 || uint64(len(entries)) != info.Last { // its wake time, which info has, is another one too
		unlock()
		return nil, nil, &problem.Error{
			Code: "LOG-LOCKED", Where: "room " + info.Room, What: fmt.Sprintf("room %s went on when it was to be copied", info.Room), Kind: log.ErrLocked,
			Fix: "end the process that runs it, and copy again",
		}
	}
	return entries, unlock, nil
}

// put stores the room, unless To has one of that id.
func (c *Config) put(ctx context.Context, info log.Info, entries []log.Entry) (Outcome, error) {
	tail, err := c.To.Tail(ctx, info.Room)
	if err != nil || tail.Seq > 0 {
		return Present, err
	}
	imported, err := c.From.Imported(ctx, info.Room)
	if err != nil {
		return Copied, err
	}
	return Copied, c.To.PutBack(ctx, info.Room, entries, info.Wake, imported)
}

// compare checks that the room of To has the chain of entries, from its first event on; it
// may have gone on since. It redacts there the events that are redacted in entries.
func (c *Config) compare(ctx context.Context, name string, entries []log.Entry) error {
	var stubs []room.Event
	n := 0
	for e, err := range log.Scan(ctx, c.To, name, log.Pos{}) {
		if err != nil {
			return err
		}
		if n == len(entries) {
			break
		}
		if e.Hash != entries[n].Hash {
			return other(name, fmt.Sprintf("event %d differs", e.Seq))
		}
		if entries[n].Redacted && !e.Redacted {
			stubs = append(stubs, entries[n].Event)
		}
		n++
	}
	if n < len(entries) {
		return other(name, fmt.Sprintf("it has the first %d of %d events", n, len(entries)))
	}
	if len(stubs) > 0 {
		return c.To.Redact(ctx, name, stubs...)
	}
	return nil
}

func other(name, why string) error {
	return &problem.Error{
		Code: "ROOM-EXISTS", Where: "room " + name, What: fmt.Sprintf("there is another room %s where it is to be copied to: %s", name, why), Kind: log.ErrConflict,
		Fix: "keep the one that you need: `moot rm " + name + "` with --data or --log removes the other one, then copy again",
	}
}
