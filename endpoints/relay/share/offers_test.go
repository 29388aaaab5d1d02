package share

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

type silent struct{}

func (silent) Speak(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
	return endpoint.Reply{Outcome: endpoint.Passed}, nil
}

func (silent) Close() error { return nil }

// TestOffers checks that a device learns the profiles that are shared with it, and none
// of the others, and that it cannot ask without end.
func TestOffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := relaytest.NewHub()
		owner, friend, other := relaytest.NewID(t), relaytest.NewID(t), relaytest.NewID(t)
		calls, err := quota.Open(filepath.Join(t.TempDir(), "calls"))
		if err != nil {
			t.Fatal(err)
		}
		trusted := error(nil)
		agent := func(name string, allow bool, devices ...identity.DeviceID) AgentConfig {
			return AgentConfig{Profile: quota.Profile{Name: name, Allow: allow, Devices: devices}, Open: func(context.Context) (Agent, error) { return silent{}, nil }}
		}
		share := New(Config{
			Self: owner, Journal: newJournal(t, filepath.Join(t.TempDir(), "j.jsonl")), Quota: calls, Trusted: func(identity.DeviceID) error { return trusted },
			Agents: []AgentConfig{agent("reviewer", true, friend), agent("builder", true, other, friend), agent("private", false, friend), agent("others", true, other)},
		})
		ctx, cancel := context.WithCancel(t.Context())
		runs := make(chan error, 3)
		run := func(id identity.DeviceID, h ...relay.Handler) *relay.Dispatcher {
			d := relay.NewDispatcher(id, hub.Connect(id), nil)
			for _, x := range h {
				d.Handle(x)
			}
			go func() { runs <- d.Run(ctx) }()
			<-d.Ready()
			return d
		}
		run(owner, share)
		mine, idle := run(friend), run(other)
		defer func() {
			cancel()
			for range 3 {
				if err := <-runs; err != nil {
					t.Error(err)
				}
			}
		}()
		ask := func(d *relay.Dispatcher, to identity.DeviceID) ([]string, error) {
			q := NewInquiry(to)
			d.Handle(q)
			defer d.Unhandle(q)
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return q.Ask(ctx)
		}
		if got, err := ask(mine, owner); err != nil || !slices.Equal(got, []string{"builder", "reviewer"}) {
			t.Errorf("%q, %v", got, err)
		}
		if got, err := ask(idle, owner); err != nil || !slices.Equal(got, []string{"builder", "others"}) {
			t.Errorf("the other device: %q, %v", got, err)
		}
		if got, err := ask(mine, other); err != nil || len(got) != 0 {
			t.Errorf("a device that shares nothing: %q, %v", got, err)
		}
		trusted = errors.New("removed")
		if got, err := ask(mine, owner); err != nil || len(got) != 0 {
			t.Errorf("a device that is not paired any more: %q, %v", got, err)
		}
		for range refusalBurst {
			_, err = ask(mine, owner)
		}
		if !errors.Is(err, ErrOffers) {
			t.Errorf("a device that asks without end: %v", err)
		}
		q := NewInquiry(owner)
		if q.Take(friend, envelope.Envelope{ID: q.id, Type: envelope.Offered, Body: wire.Body(wire.Offered{})}) {
			t.Error("another device answers")
		}
	})
}
