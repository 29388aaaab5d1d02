package sessions

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// A Message is what a sender writes to a session.
type Message struct {
	Text   string
	Source string // room.SourceUser and so on; that of an agent is always room.SourceAgent
}

// Post sends a message to the session with that id, which is loaded if necessary,
// and returns the id of the message once it is stored. It does not wait for the
// agent.
func (s *Sessions) Post(ctx context.Context, from Sender, id string, m Message) (string, error) {
	if err := s.rates.allow(from, "post", postRate); err != nil {
		return "", err
	}
	t, err := s.target(ctx, from, id)
	if err != nil {
		return "", err
	}
	if _, session := s.find(t.room); !session && from.Seat == "" && !from.Control {
		return "", unknown(id) // it may not speak as the host
	}
	if from.Seat != "" && t == (target{from.Room, from.Seat}) {
		return "", &problem.Error{Code: "SESSION-SELF", What: "a session cannot send messages to itself", Fix: "send it to another session"}
	}
	if from.Seat != "" {
		m.Source = room.SourceAgent
	}
	return s.say(ctx, from, t, m)
}

// say posts a message as the host, in the name of the sender's session.
func (s *Sessions) say(ctx context.Context, from Sender, t target, m Message) (string, error) {
	say := room.Say{
		Text: m.Text, To: t.seat, Kind: room.KindRequest, Source: cmp.Or(m.Source, room.SourceUser), FromSession: s.IDOf(from), MessageID: "msg_" + randomID(),
	}
	if say.Source == room.SourceApplet && from.Via != "socket" { // there it has no name of its own
		say.Applet = from.Name
	}
	if _, err := s.cfg.Host.Do(ctx, t.room, moot.Command{ID: "c_" + say.MessageID, Actor: room.ActorHost, Do: say, Via: from.Via}); err != nil {
		return "", err
	}
	s.extend(t.room)
	return say.MessageID, nil
}

// extend lets a session live longer, because it has work.
func (s *Sessions) extend(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.list.find(id)
	until := now().Add(s.cfg.TTL)
	if !ok || until.Sub(x.Until) < time.Minute { // not worth another write
		return
	}
	if err := s.list.change(s.cfg.Path, func(l *list) { l.set(id, func(x *record) { x.Until = until }) }); err != nil {
		s.cfg.Log.Warn("a session ends earlier than it should", "session", id, "error", err)
	}
}

func randomID() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
