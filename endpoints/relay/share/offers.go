package share

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// offer tells a device which profiles are shared with it, and nothing of the others.
// The caller holds mu. The answers of a minute are limited, as refusals are.
func (s *Share) offer(from identity.DeviceID, e envelope.Envelope) {
	if s.ended || s.refusals.exceeded(from) {
		return
	}
	s.refusals.charge(from)
	var q wire.OffersQuery
	asks := e.DecodeBody(&q) == nil && q.Messages
	o := wire.Offered{Profiles: []string{}, Messages: asks}
	if s.cfg.Trusted(from) == nil {
		for _, name := range slices.Sorted(maps.Keys(s.profiles)) {
			if s.profiles[name].Profile.Serves(from) && len(o.Profiles) < wire.MaxOffers {
				o.Profiles = append(o.Profiles, name)
			}
		}
	}
	s.dispatcher.Send(from, envelope.Envelope{ID: e.ID, Type: envelope.Offered, Body: wire.Body(o)})
}

// ErrOffers reports that a device has not said what it shares.
var ErrOffers = errors.New("the device has not said which agents it shares")

// An Inquiry asks one device which profiles it shares with this one. It is a
// relay.Handler for one question.
type Inquiry struct {
	to     identity.DeviceID
	id     string
	answer chan wire.Offered
	begun  chan struct{}
	once   sync.Once
	relay  *relay.Dispatcher
}

// NewInquiry returns a question to a device.
func NewInquiry(to identity.DeviceID) *Inquiry {
	return &Inquiry{to: to, id: rand.Text(), answer: make(chan wire.Offered, 1), begun: make(chan struct{})}
}

// Begin implements [relay.Handler].
func (q *Inquiry) Begin(_ context.Context, d *relay.Dispatcher) {
	q.once.Do(func() {
		q.relay = d
		close(q.begun)
	})
}

// End implements [relay.Handler].
func (q *Inquiry) End() {}

// PeerRestarted implements [relay.Handler].
func (q *Inquiry) PeerRestarted(identity.DeviceID) {}

// Take implements [relay.Handler].
func (q *Inquiry) Take(from identity.DeviceID, e envelope.Envelope) bool {
	if e.Type != envelope.Offered || from != q.to || e.ID != q.id {
		return false
	}
	var o wire.Offered
	if e.DecodeBody(&o) != nil || o.Check() != nil {
		o = wire.Offered{}
	}
	select {
	case q.answer <- o:
	default: // it has one
	}
	return true
}

// Ask returns the names of the profiles. The handler was added to the dispatcher before.
func (q *Inquiry) Ask(ctx context.Context) ([]string, error) {
	select {
	case <-q.begun:
	case <-ctx.Done():
		return nil, ErrOffers
	}
	b, err := envelope.Encode(envelope.Envelope{ID: q.id, Type: envelope.Offers})
	if err != nil {
		return nil, err
	}
	if err := q.relay.Deliver(ctx, q.to, b); err != nil {
		return nil, errors.Join(ErrOffers, err)
	}
	select {
	case o := <-q.answer:
		return o.Profiles, nil
	case <-ctx.Done():
		return nil, ErrOffers
	}
}
