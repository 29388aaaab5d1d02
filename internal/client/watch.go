package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/local"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

const (
	// giveUpAfter is how long a watch tries to reach a server that it has lost.
	giveUpAfter = 30 * time.Second
	// silence is how long a stream may be without a line, which the server sends
	// at least every 15 seconds.
	silence = 45 * time.Second
	// maxLine is the longest line of a stream: an event, and what is around it.
	maxLine = room.MaxEventBytes + 1<<10
)

// errStopped reports that the consumer of a stream wants no more.
var errStopped = errors.New("client: stopped")

// A watch is one call of [Room.Watch].
type watch struct {
	room     *Room
	at       int64 // of the last event that was yielded
	level    room.Visibility
	yield    func(coordinator.Update, error) bool
	lastLine time.Time // when the server was last heard of
	lost     bool      // the room has been told that the stream has broken
	end      string    // code of the last line of the last stream, "" if it broke
}

// run follows the room until its run ends, ctx ends, or the server stays away.
func (w *watch) run(ctx context.Context) error {
	w.lastLine = time.Now()
	pause := firstPause
	for {
		before := w.at
		err := w.follow(ctx)
		switch {
		case errors.Is(err, errStopped) || ctx.Err() != nil:
			return nil
		case err == nil && w.end == api.EndRoom:
			return w.room.refresh(ctx)
		case err == nil && w.end == "":
			// The server ends the stream with the room's run, and when it ends itself.
			if err = w.room.refresh(ctx); err == nil && w.room.View().Phase != room.PhaseLive {
				return nil
			}
		}
		if w.end == api.EndServer && errors.Is(err, local.ErrNone) && w.room.View().Phase != room.PhaseLive {
			return nil // the process has brought the room to rest, and no other runs it
		}
		if err != nil && (!isLost(err) || time.Since(w.lastLine) > giveUpAfter) {
			return err
		}
		if err != nil && !w.lost && w.room.Lost != nil {
			w.room.Lost(err)
		}
		w.lost = err != nil
		if w.at > before {
			pause = firstPause
		}
		if !wait(ctx, pause) {
			return nil
		}
		pause = min(2*pause, maxPause)
	}
}

// follow yields what one connection delivers. It returns nil when the server ends
// the stream.
func (w *watch) follow(ctx context.Context) error {
	path := roomPath(w.room.id, "/events?follow=true&after="+strconv.FormatInt(w.at, 10))
	return w.room.client.lines(ctx, path, func(ctx context.Context, line []byte) error {
		w.lastLine, w.lost, w.end = time.Now(), false, ""
		return w.line(ctx, line)
	})
}

// line handles a line of the stream.
func (w *watch) line(ctx context.Context, line []byte) error {
	if len(line) == 0 {
		return nil // the server is there
	}
	var wire api.Update
	err := json.Unmarshal(line, &wire)
	if err == nil && wire.End != nil {
		w.end = wire.End.Code
		if p := wire.End.Problem; p != nil {
			return p.Problem()
		}
		return nil
	}
	var u coordinator.Update
	if err == nil {
		u, err = wire.Update()
	}
	if err != nil {
		return badAnswer("the stream of "+w.room.id, err)
	}
	if u.Event != nil {
		seen, err := w.event(ctx, *u.Event)
		if err != nil || seen == nil {
			return err
		}
		u.Event = seen
	}
	if !w.yield(u, nil) {
		return errStopped
	}
	return nil
}

// event returns e as the consumer sees it, or nil if it does not. The view of the
// room is then that after e, or newer.
func (w *watch) event(ctx context.Context, e room.Event) (*room.Event, error) {
	if e.Seq <= w.at {
		return nil, nil
	}
	if e.Seq > w.room.View().Seq {
		if err := w.room.refresh(ctx); isLost(err) {
			w.room.apply(e) // the server ends, and answers no new request
		} else if err != nil {
			return nil, err
		}
	}
	w.at = e.Seq
	seen, ok := e.VisibleAt(w.level)
	if !ok {
		return nil, nil
	}
	return &seen, nil
}

// Events yields the events of a room after the one with seq after that are stored
// now.
func (c *Client) Events(ctx context.Context, id string, after int64) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		path := roomPath(id, "/events?follow=false&after="+strconv.FormatInt(after, 10))
		err := c.lines(ctx, path, func(_ context.Context, line []byte) error {
			var u api.Update
			if err := json.Unmarshal(line, &u); err != nil || u.Event == nil {
				return nil
			}
			e, err := room.UnmarshalEvent(u.Event)
			if err != nil {
				return badAnswer("the events of "+id, err)
			}
			if !yield(e, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(room.Event{}, err)
		}
	}
}

// lines calls f with each line of the answer to a request, also the empty ones,
// which say that the server is there. It returns nil when the server ends the
// answer.
func (c *Client) lines(ctx context.Context, path string, f func(ctx context.Context, line []byte) error) error {
	return c.stream(ctx, http.MethodGet, path, nil, f)
}

// stream is lines of the answer to any request.
func (c *Client) stream(ctx context.Context, method, path string, in any, f func(ctx context.Context, line []byte) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alarm := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer alarm.Stop()
	resp, err := c.send(ctx, method, path, "application/x-ndjson", in)
	if err != nil {
		return silent(ctx, err)
	}
	defer resp.Body.Close()
	scan := bufio.NewScanner(resp.Body)
	scan.Buffer(nil, maxLine)
	for scan.Scan() {
		alarm.Reset(silence)
		if err := f(ctx, bytes.TrimSpace(scan.Bytes())); err != nil {
			return silent(ctx, err)
		}
	}
	switch err := scan.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, bufio.ErrTooLong):
		return badAnswer(path, err)
	default:
		return silent(ctx, unreachable(err))
	}
}

// errSilent reports a server that has sent nothing for too long.
var errSilent = errors.New("the server sends nothing")

// silent returns err, or that the server was silent if that ended ctx.
func silent(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSilent) {
		return unreachable(errSilent)
	}
	return err
}

func badAnswer(where string, err error) error {
	return &problem.Error{Code: "API-ANSWER", What: "the server's answer cannot be read", Where: where, Fix: "use a moot of the server's release", Err: err}
}
