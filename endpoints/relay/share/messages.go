package share

import (
	"context"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// A question is a typed message, an acknowledgement or a claim of an agent that the
// room of another device has not answered.
type question struct {
	to      identity.DeviceID
	request string
	number  int
}

// answerTimeout bounds the wait for the room's answer. A room that has ended gives none.
const answerTimeout = 30 * time.Second

// ask forwards a typed message, an acknowledgement or a claim, and waits for the room's
// answer.
func (f *remoteFloor) ask(ctx context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	if !f.typed {
		return endpoint.Answer{Reason: "the device of the room takes no typed messages: it needs a newer release"}, nil
	}
	v := wire.SideMessage{Ack: s.Of}
	if s.Kind == endpoint.SignalClaim {
		v.Claim = s.Code
	}
	said := ""
	if s.Post != nil {
		p := wire.PostOf(*s.Post)
		v.Post, said = &p, digestOf(f.request.Profile, s.Post.Line())
	}
	q, answer := f.share.question(f.to, f.request.ID)
	defer f.share.forget(q)
	v.Number = q.number
	if err := v.Check(1 << 30); err != nil { // the room checks its limit
		return endpoint.Answer{Reason: err.Error()}, nil
	}
	if err := f.forward(ctx, v, said); err != nil {
		return endpoint.Answer{Reason: "it cannot be delivered"}, nil
	}
	waiting, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	select {
	case a := <-answer:
		return a.Answer(len(s.Of)), nil
	case <-f.share.ctx.Done():
	case <-waiting.Done():
	}
	return endpoint.Answer{Reason: "the room has not answered"}, ctx.Err()
}

// forward records and sends a message of the agent. said is its digest, "" without text.
func (f *remoteFloor) forward(ctx context.Context, v wire.SideMessage, said string) error {
	q := f.request
	b, err := envelope.Encode(envelope.Envelope{ID: q.ID, Type: envelope.Message, Profile: q.Profile, Room: q.Room, Epoch: q.Epoch, Turn: q.Turn, Body: wire.Body(v)})
	if err == nil && said != "" {
		err = f.share.cfg.Journal.sent(f.to, q.Room, q.ID, said)
	}
	if err == nil {
		err = f.share.dispatcher.Deliver(ctx, f.to, b)
	}
	return err
}

// question returns a new question, and the channel of its answer.
func (s *Share) question(to identity.DeviceID, request string) (question, <-chan wire.MessageAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.numbers++
	q := question{to, request, s.numbers}
	if s.asked == nil {
		s.asked = map[question]chan wire.MessageAnswer{}
	}
	s.asked[q] = make(chan wire.MessageAnswer, 1)
	return q, s.asked[q]
}

func (s *Share) forget(q question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asked, q)
}

// answered gives the answer of a room to the agent that waits for it. One that came too
// late is dropped.
func (s *Share) answered(from identity.DeviceID, e envelope.Envelope) {
	var a wire.MessageAnswer
	if err := e.DecodeBody(&a); err != nil {
		s.cfg.Log.Warn("an answer to a message cannot be read", "device", from.Short(), "error", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.asked[question{from, e.ID, a.Number}] <- a:
	default:
	}
}
