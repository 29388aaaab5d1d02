package seat

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// An inquiry asks the seat's device whether it knows typed messages. Devices of earlier
// releases refuse requests with fields that they do not know.
type inquiry struct {
	id    string // "" while none is open
	done  chan struct{}
	tries int  // since the device was started
	known bool // it has answered, or is asked no more
	typed bool // it knows them
}

// Bounds of inquiries. Without an answer the device gets the fields of earlier releases,
// and is asked again for the next prompts and when it is started again.
const (
	inquiryTimeout = 5 * time.Second
	maxInquiries   = 3
)

// takesMessages reports whether a request for p may have the fields of typed messages. It
// asks the device before the first prompt that needs them.
func (e *Endpoint) takesMessages(ctx context.Context, p endpoint.Prompt) bool {
	e.mu.Lock()
	q := &e.inquiry
	if q.known || !needsMessages(p) {
		defer e.mu.Unlock()
		return q.typed
	}
	q.id, q.done = rand.Text(), make(chan struct{})
	q.tries++
	id, done := q.id, q.done
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, inquiryTimeout)
	defer cancel()
	b, err := envelope.Encode(envelope.Envelope{ID: id, Type: envelope.Offers, Body: wire.Body(wire.OffersQuery{Messages: true})})
	if err == nil {
		err = e.cfg.Dispatcher.Deliver(ctx, e.cfg.Device, b)
	}
	if err == nil {
		select {
		case <-done:
		case <-e.done:
		case <-ctx.Done():
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	q.id, q.known = "", q.known || q.tries >= maxInquiries
	return q.typed
}

// needsMessages reports whether p has parts that only the fields of typed messages carry.
func needsMessages(p endpoint.Prompt) bool {
	if p.Duty != "" || len(p.Mail) > 0 {
		return true
	}
	for _, ls := range [][]endpoint.Line{p.Inbox, p.History, p.CatchUp} {
		for _, l := range ls {
			if l.ID != "" {
				return true
			}
		}
	}
	return false
}

// takeOffered takes the answer to an inquiry. The caller holds mu.
func (e *Endpoint) takeOffered(m envelope.Envelope) bool {
	q := &e.inquiry
	if q.id == "" || m.ID != q.id {
		return false
	}
	var o wire.Offered
	q.typed = m.DecodeBody(&o) == nil && o.Messages
	q.id, q.known = "", true
	close(q.done)
	return true
}

// typedMessage raises a typed message, acknowledgements or a claim of the agent, and sends
// it the room's answer.
func (e *Endpoint) typedMessage(p endpoint.Prompt, v wire.SideMessage) {
	s := endpoint.Signal{Kind: endpoint.SignalAck, Of: v.Ack}
	switch err := v.Check(wire.OutputLimit(p)); {
	case err != nil:
		s = endpoint.Signal{Kind: endpoint.SignalViolation, Code: "bad_frame", Detail: "a message is refused: " + err.Error()}
	case v.Claim != "":
		s = endpoint.Signal{Kind: endpoint.SignalClaim, Code: v.Claim}
	case v.Post != nil:
		post := v.Post.Post()
		post.To = wire.ParticipantOf(p, post.To)
		s = endpoint.Signal{Kind: endpoint.SignalMessage, To: post.To, Detail: post.Text, Post: &post}
	}
	e.signals.Ask(s, func(a endpoint.Answer, err error) {
		if err != nil || s.Kind == endpoint.SignalViolation {
			a = endpoint.Answer{Reason: "the room did not take it"}
		}
		e.cfg.Dispatcher.Send(e.cfg.Device, envelope.Envelope{
			ID: p.Request, Type: envelope.MessageAnswer, Profile: e.cfg.Remote, Room: p.Room, Epoch: p.Epoch, Turn: p.Turn, Body: wire.Body(wire.AnswerOf(v.Number, a)),
		})
	})
}
