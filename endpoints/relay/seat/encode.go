package seat

import (
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// encode returns the encoded request of p. If it is too large for the relay, it
// leaves out the oldest of the earlier messages, and counts them in the request.
// New messages stay whole. typed says that the device knows typed messages.
func encode(p endpoint.Prompt, remote, knows string, typed bool, t envelope.Trace) ([]byte, error) {
	e := envelope.Envelope{ID: p.Request, Type: envelope.TurnRequest, Profile: remote, Room: p.Room, Epoch: p.Epoch, Turn: p.Turn, Trace: &t}
	if p.Kind == endpoint.Bid {
		e.Type = envelope.BidRequest
	}
	for {
		q := wire.RequestOf(p)
		q.Knows = knows
		if typed {
			q.AddMessages(p)
		}
		e.Body = wire.Body(q)
		b, err := envelope.Encode(e)
		if err == nil && len(b) <= session.MaxMessage {
			return b, nil
		}
		if len(e.Body) < session.MaxMessage/2 { // the size is not the reason
			return nil, wire.Problem("AGENT-PROTOCOL", "the request cannot be written", "", endpoint.ErrProtocol)
		}
		if !wire.Shorten(&p, len(e.Body)) {
			return nil, wire.Undeliverable(session.ErrTooLarge)
		}
	}
}

// traceID names the trace that a request begins.
func traceID(p endpoint.Prompt) string { return "t_" + wire.ShortHash(p.Room+"\x00"+p.Request) }
