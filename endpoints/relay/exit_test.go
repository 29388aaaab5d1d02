package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
)

// TestExitIsSaid: that an agent has ended both owners are told, each with what
// to do; its last words only its own.
func TestExitIsSaid(t *testing.T) {
	for _, c := range []struct {
		kind         error
		code, fix    string
		owner, mends string
	}{
		{errors.Join(endpoint.ErrExited, endpoint.ErrInterrupted), "RELAY-RESTARTS", "the floor again", "process has ended", "started anew for the next request"},
		{endpoint.ErrExited, "RELAY-EXITED", "restore the seat", "allows no other", "start share again"},
	} {
		t.Run(c.code, func(t *testing.T) {
			var logged bytes.Buffer
			p := newPair(t, func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
				return endpoint.Reply{}, fmt.Errorf("%w; its last words: no memory", c.kind)
			})
			p.share.desks["theirs"].Candid = false
			p.share.cfg.Log = slog.New(slog.NewTextHandler(&logged, nil))
			_, err := p.seat.Speak(t.Context(), prompt("req_1", "x"), newFloor())
			var said *problem.Error
			if !errors.As(err, &said) || said.Code != c.code || !strings.Contains(said.Fix, c.fix) || strings.Contains(err.Error(), "no memory") {
				t.Errorf("the host is told %v, with the fix %+v", err, said)
			}
			if back := errors.Is(err, endpoint.ErrInterrupted); back != errors.Is(c.kind, endpoint.ErrInterrupted) {
				t.Errorf("that the agent comes back is %v", back)
			}
			p.stopShare()
			for _, want := range []string{c.owner, "no memory", c.mends} {
				if !strings.Contains(logged.String(), want) {
					t.Errorf("the agent's owner is not told %q:\n%s", want, &logged)
				}
			}
		})
	}
}
