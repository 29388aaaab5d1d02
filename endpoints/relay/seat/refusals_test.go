package seat

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/session"
)

// TestRefusalsAreLimited: a device that asks for what it may not have 27 times a
// second gets few answers and few lines in the audit, another device is served
// meanwhile, and the first is answered again when it has been quiet.
func TestRefusalsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		p := newPair(t, counting(&runs))
		stranger := relaytest.NewID(t)
		link := p.hub.Connect(stranger)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var answers atomic.Int32
		go count(ctx, link, &answers)
		ask := func(i int) {
			send(t, link, p.guest, envelope.Envelope{ID: fmt.Sprint("q", i), Type: envelope.TurnRequest, Profile: "theirs", Room: fmt.Sprint("r", i), Epoch: 1, Turn: 1})
		}
		const perSecond, seconds = 27, 60
		for i := range perSecond * seconds {
			ask(i)
			time.Sleep(time.Second / perSecond) // in synctest time
		}
		synctest.Wait()
		if n := answers.Load(); n < 30 || n > 62 {
			t.Errorf("%d of %d refused requests were answered", n, perSecond*seconds)
		}
		if n := len(p.audited); n > 62 {
			t.Errorf("%d refusals were passed to the audit", n)
		}
		if r, err := p.seat.Speak(t.Context(), prompt("good", "hello"), newFloor()); err != nil || r.Text != "run 1" {
			t.Errorf("another device is not served: %+v, %v", r, err)
		}
		time.Sleep(time.Minute)
		before := answers.Load()
		ask(perSecond * seconds)
		synctest.Wait()
		if answers.Load() != before+1 {
			t.Error("a device that was quiet gets no answer")
		}
		cancel()
		p.stopHost()
		p.stopShare()
	})
}

// count counts the messages that arrive at a link.
func count(ctx context.Context, l relay.Link, n *atomic.Int32) {
	for {
		in, err := l.Next(ctx)
		if err != nil {
			return
		}
		if _, ok := in.Event.(session.Delivered); ok {
			n.Add(1)
		}
	}
}
