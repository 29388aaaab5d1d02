package share

import (
	"context"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// A remoteFloor is the endpoint.Floor of a shared agent: it forwards messages
// to the room of another owner.
type remoteFloor struct {
	share   *Share
	profile *sharedProfile
	room    string // the key of the agent in the profile
	to      identity.DeviceID
	request envelope.Envelope
}

// Raise forwards a message. Permissions and calls are for the agent's own owner
// to allow, who is not asked here, so they are refused. Violations and late
// answers go to the owner's log.
func (f *remoteFloor) Raise(ctx context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	q := f.request
	switch s.Kind {
	case endpoint.SignalMessage:
		e := envelope.Envelope{
			ID: q.ID, Type: envelope.Message, Profile: q.Profile, Room: q.Room, Epoch: q.Epoch, Turn: q.Turn,
			Body: wire.Body(wire.SideMessage{To: s.To, Text: s.Detail}),
		}
		b, err := envelope.Encode(e)
		if err == nil {
			err = f.share.cfg.Journal.sent(f.to, q.Room, q.ID, digestOf(q.Profile, s.Detail))
		}
		if err == nil {
			err = f.share.dispatcher.Deliver(ctx, f.to, b)
		}
		if err != nil {
			return endpoint.Answer{Reason: "it cannot be delivered"}, nil
		}
		return endpoint.Answer{Allowed: true}, nil
	case endpoint.SignalForgot:
		f.profile.newSession(f.room)
		f.share.dispatcher.Send(f.to, envelope.Envelope{
			ID: "anew", Type: envelope.Status, Profile: q.Profile, Room: q.Room, Body: wire.Body(wire.Status{State: wire.StateRestarted}),
		})
		return endpoint.Answer{Allowed: true}, nil
	case endpoint.SignalViolation:
		f.share.cfg.Log.Warn("a shared agent broke its protocol", "profile", q.Profile, "rule", s.Code, "detail", s.Detail)
	case endpoint.SignalLate:
		f.share.cfg.Log.Info("a shared agent answered too late", "profile", q.Profile)
	}
	return endpoint.Answer{Reason: "not allowed for another owner's room"}, nil
}

// Show drops live text: its timing and sizes would leak what the agent does.
func (f *remoteFloor) Show(string) {}
