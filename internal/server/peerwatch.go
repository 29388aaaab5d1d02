package server

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/endpoints/relay/spectate"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// maxPeerWait is how long a watch may wait for a device that does not answer.
const maxPeerWait = 24 * time.Hour

// maxPeerLast is how much of the past a host may be asked for.
const maxPeerLast = 10_000

// watchPeer streams a room of another owner's device as lines of api.PeerUpdate
// until the room ends or the caller goes away.
func (s *Server) watchPeer(w http.ResponseWriter, r *http.Request) {
	o, err := peerWatchOptions(r)
	if err != nil {
		s.fail(w, err)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	var send func(api.PeerUpdate) error // set before the watch runs
	shown := false
	o.Show = func(x spectate.Snapshot) error { return sendSnapshot(send, x, &shown) }
	o.Silent = func() { _ = send(api.PeerUpdate{Silent: true}) }
	o.Offline = func(now bool) { _ = send(api.PeerUpdate{Offline: &now}) }
	watch, err := s.cfg.Host.WatchPeer(ctx, o)
	if err != nil {
		s.fail(w, err)
		return
	}
	out, stop := shareStream(w, r)
	defer stop()
	send = func(u api.PeerUpdate) error {
		err := out.send(u)
		if err != nil {
			cancel() // the caller has gone
		}
		return err
	}
	_ = send(api.PeerUpdate{Watch: watch.ID})
	if err := watch.Run(ctx); err != nil && ctx.Err() == nil {
		_ = send(api.PeerUpdate{Problem: api.ProblemOf(0, err)})
	}
}

// sendSnapshot sends one answer of the other device.
func sendSnapshot(send func(api.PeerUpdate) error, x spectate.Snapshot, shown *bool) error {
	if !*shown {
		*shown = true
		if err := send(api.PeerUpdate{Room: x.Room}); err != nil {
			return err
		}
	}
	for _, e := range append(x.Opening, x.Events...) {
		b, err := room.MarshalEvent(e)
		if err == nil {
			err = send(api.PeerUpdate{Event: b})
		}
		if err != nil {
			return err
		}
	}
	if x.State == "" {
		return nil
	}
	return send(api.PeerUpdate{State: x.State, Phase: string(x.Phase), Reason: x.Reason})
}

// peerWatchOptions reads which room is watched.
func peerWatchOptions(r *http.Request) (o moot.PeerWatchOptions, err error) {
	q := r.URL.Query()
	o = moot.PeerWatchOptions{Peer: r.PathValue("peer"), Room: q.Get("room"), Relay: q.Get("relay"), Name: q.Get("name")}
	if o.Wait, err = duration(q.Get("wait"), maxPeerWait); err != nil {
		return o, err
	}
	number := func(key string, most int64) (n int64) {
		text := q.Get(key)
		if text == "" || err != nil {
			return 0
		}
		if n, err = strconv.ParseInt(text, 10, 64); err != nil || n < 0 || n > most {
			err = api.ProblemOf(http.StatusUnprocessableEntity, &problem.Error{Code: "API-REQUEST", What: key + " is not a number in its range", Where: text, Fix: "write a number from 0 to " + strconv.FormatInt(most, 10)})
		}
		return n
	}
	o.Last = int(number("last", maxPeerLast))
	if after := number("after", 1<<62); q.Has("after") {
		o.After, o.Last = &after, 0
	}
	return o, err
}

type sayThereInput struct {
	Peer string `path:"peer" maxLength:"128" doc:"The name or the id of the device"`
	Body api.PeerSay
}

// sayThere posts a message through the watch that the caller names, else through
// any of the room.
func (s *Server) sayThere(ctx context.Context, in *sayThereInput) (*struct{}, error) {
	if in.Body.Watch == "" {
		return nil, s.cfg.Host.SayThere(ctx, moot.PeerWatchOptions{Peer: in.Peer, Room: in.Body.Room}, in.Body.Text)
	}
	for _, w := range s.cfg.Host.Watches() {
		if w.ID == in.Body.Watch {
			return nil, w.Say(ctx, in.Body.Text)
		}
	}
	return nil, api.ProblemOf(http.StatusNotFound, &problem.Error{Code: "WATCH-OVER", What: "the message was not posted: this watch has ended", Where: in.Body.Watch, Fix: "watch the room again, or name no watch"})
}

// A sharedStream is a stream to which several goroutines write.
type sharedStream struct {
	mu  sync.Mutex
	out frameWriter
}

// shareStream begins a stream, with an empty line now and then until stop is called.
func shareStream(w http.ResponseWriter, r *http.Request) (s *sharedStream, stop func()) {
	s = &sharedStream{out: newChosenWriter(w, r)}
	ctx, cancel := context.WithCancel(r.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(heartbeat)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				if s.keepAlive() != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return s, func() { cancel(); <-done }
}

func (s *sharedStream) send(v any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sendJSON(s.out, v)
}

func (s *sharedStream) keepAlive() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.alive()
}
