package spectate

import (
	"errors"
	"strings"

	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/wire"
	"github.com/folkmoot/moot/room"
)

// Take handles a message of a client.
func (s *Server) Take(from identity.DeviceID, e envelope.Envelope) bool {
	switch e.Type {
	case envelope.Watch:
		s.subscribe(from, e)
	case envelope.Message:
		return s.takeMessage(from, e)
	case envelope.Bye:
		s.unsubscribe(from, e)
	default:
		return false
	}
	return true
}

// subscribe hands a subscribe request to its stream.
func (s *Server) subscribe(from identity.DeviceID, e envelope.Envelope) {
	var q wire.Subscribe
	err := e.DecodeBody(&q)
	if err == nil {
		err = q.Check()
	}
	if err != nil {
		s.dispatcher.Violation(from, "", "bad_frame", err.Error())
		return
	}
	key := subscriptionOf(from, e)
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.find(key)
	switch {
	case s.ended || t == nil && s.left && len(s.rooms) == 0:
		return
	case t == nil && (len(s.streams) >= maxStreams || s.streamsOf(from) >= maxStreamsPerDevice):
		s.counts.Limited++
		s.dispatcher.Send(from, wire.ReplyTo(e, wire.ErrorReply(wire.ReplyLimit)))
		return
	case t == nil:
		t = newStream(s, key)
		s.streams[key] = t
		s.wg.Go(func() {
			defer s.remove(t)
			t.run(s.ctx)
		})
	}
	t.put(subscribeRequest{e, q})
}

// subscriptionOf returns the subscription of a message: several clients of a
// device may watch one room. The id of each of their messages begins with a
// part of their own and a dot. Those of earlier releases have no dot.
func subscriptionOf(from identity.DeviceID, e envelope.Envelope) subscription {
	client, _, ok := strings.Cut(e.ID, ".")
	if !ok {
		client = ""
	}
	return subscription{from, e.Room, client}
}

// find returns the stream of a subscription. A device that asked for the only
// room, and now names it, keeps its stream.
func (s *Server) find(key subscription) *stream {
	if t := s.streams[key]; t != nil || key.room == "" {
		return t
	}
	t := s.streams[subscription{device: key.device, client: key.client}]
	if t == nil || t.watched() != key.room {
		return nil
	}
	delete(s.streams, t.key)
	t.key, s.streams[key] = key, t
	return t
}

func (s *Server) streamsOf(d identity.DeviceID) (n int) {
	for key := range s.streams {
		if key.device == d {
			n++
		}
	}
	return n
}

func (s *Server) remove(t *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, t.key)
	close(t.done)
}

func (s *Server) unsubscribe(from identity.DeviceID, e envelope.Envelope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.find(subscriptionOf(from, e)); t != nil {
		t.stop()
	}
}

// takeMessage handles a message for a room. It reports false for a device that
// may not watch any room: the dispatcher counts its message as a violation.
func (s *Server) takeMessage(from identity.DeviceID, e envelope.Envelope) bool {
	g, code := s.admit(from, e.Room)
	if code == wire.ReplyDenied {
		s.refused(from, e.Room, "unsolicited")
		return false
	}
	var m wire.Say
	if err := e.DecodeBody(&m); err != nil {
		s.dispatcher.Violation(from, "", "bad_frame", err.Error())
		return true
	}
	reply := func(r wire.Reply) { s.dispatcher.Send(from, wire.ReplyTo(e, r)) }
	if code == "" {
		code = m.Check()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return true
	case code == "" && s.posting[from] >= maxPostingPerDevice:
		s.counts.Limited++
		r := wire.ErrorReply(wire.ReplyLimit)
		r.RetryMS = 1000
		reply(r)
		return true
	case code != "":
		reply(wire.ErrorReply(code))
		return true
	}
	s.posting[from]++
	s.wg.Go(func() {
		r := s.post(g, e.ID, m.Text)
		s.mu.Lock()
		s.posting[from]--
		if s.posting[from] == 0 {
			delete(s.posting, from)
		}
		s.mu.Unlock()
		reply(r)
	})
	return true
}

// sayProfile has the rate of messages: that of turns by default.
var sayProfile = quota.Profile{Name: "observers"}.WithDefaults()

// post posts a message once for its id.
func (s *Server) post(g grant, id, text string) wire.Reply {
	device := g.spectator.Device
	wait, err := s.cfg.Quota.Take(quota.Serving, sayProfile, device, "message")
	if err == nil && wait > 0 {
		s.mu.Lock()
		s.counts.Limited++
		s.mu.Unlock()
		r := wire.ErrorReply(wire.ReplyLimit)
		r.RetryMS = wait.Milliseconds() + 1
		return r
	}
	if err == nil {
		err = s.audit(device, g.room.ID(), "said", "")
	}
	if err != nil {
		s.cfg.Log.Error("a message is refused because it cannot be recorded", "error", err)
		return wire.ErrorReply(wire.ReplyFailed)
	}
	err = g.room.Say(s.ctx, g.spectator, "o_"+wire.ShortHash(device.String()+"\x00"+id), text)
	switch {
	case errors.Is(err, room.ErrOver):
		return wire.ErrorReply(wire.ReplyOver)
	case errors.Is(err, room.ErrDenied):
		return wire.ErrorReply(wire.ReplyMuted)
	case err != nil:
		s.cfg.Log.Warn("a message was not posted", "device", device.Short(), "error", err)
		return wire.ErrorReply(wire.ReplyFailed)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Said++
	return wire.Reply{Status: wire.StatusOK}
}
