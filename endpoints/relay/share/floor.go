package share

import (
	"context"

	"github.com/folkmoot/moot/endpoints/allow"
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
	typed   bool // the room takes typed messages
}

// Raise forwards messages, acknowledgements and claims. A permission is for the agent's own owner to give, by
// the rules of the profile: no person is asked, and the request never leaves this
// device. Calls are refused. Violations and late answers go to the owner's log.
func (f *remoteFloor) Raise(ctx context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	q := f.request
	if s.Kind == endpoint.SignalAck || s.Kind == endpoint.SignalClaim || s.Post != nil {
		return f.ask(ctx, s)
	}
	switch s.Kind {
	case endpoint.SignalMessage:
		if err := f.forward(ctx, wire.SideMessage{To: s.To, Text: s.Detail}, digestOf(q.Profile, s.Detail)); err != nil {
			return endpoint.Answer{Reason: "it cannot be delivered"}, nil
		}
		return endpoint.Answer{Allowed: true}, nil
	case endpoint.SignalForgot:
		f.profile.newSession(f.room)
		f.share.dispatcher.Send(f.to, envelope.Envelope{
			ID: "anew", Type: envelope.Status, Profile: q.Profile, Room: q.Room, Body: wire.Body(wire.Status{State: wire.StateRestarted}),
		})
		return endpoint.Answer{Allowed: true}, nil
	case endpoint.SignalPermission:
		return f.permit(s.Permission), nil
	case endpoint.SignalViolation:
		f.share.cfg.Log.Warn("a shared agent broke its protocol", "profile", q.Profile, "rule", s.Code, "detail", s.Detail)
	case endpoint.SignalLate:
		f.share.cfg.Log.Info("a shared agent answered too late", "profile", q.Profile)
	}
	return endpoint.Answer{Reason: "not allowed for another owner's room"}, nil
}

// permit answers a permission request by the rules of the profile.
func (f *remoteFloor) permit(p *endpoint.Permission) endpoint.Answer {
	if p == nil {
		return endpoint.Answer{By: endpoint.Unasked, Reason: "the request is empty"}
	}
	a, ok := allow.Answer(f.profile.Allow, f.profile.Dir, *p)
	kept, whole := p.Bounded()
	if p.Question != nil {
		a = endpoint.Answer{By: endpoint.Unasked, Reason: "in the room of another owner a shared agent can ask no person"}
	} else if !ok || !whole {
		a = endpoint.Answer{By: endpoint.Unasked, Reason: "in the room of another owner only a rule under allow: of the profile can permit it"}
	}
	f.share.cfg.Log.Info("a shared agent asked for a permission", "profile", f.request.Profile, "device", f.to.Short(), "kind", kept.Kind, "title", kept.Title, "allowed", a.Allowed, "reason", a.Reason)
	return a
}

// Show drops live text: its timing and sizes would leak what the agent does.
func (f *remoteFloor) Show(string) {}

// ShowTool drops tool calls: their titles name files and commands of this device.
func (f *remoteFloor) ShowTool(endpoint.ToolCall) {}
