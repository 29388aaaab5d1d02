package seat

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

// TestAgentExit checks what both owners are told about an agent that has ended:
// what to do, and its last words only to its own owner.
func TestAgentExit(t *testing.T) {
	for _, c := range []struct {
		kind      error
		code, fix string // for the host
		log, next string // for the agent's owner
	}{
		{errors.Join(endpoint.ErrExited, endpoint.ErrInterrupted), "RELAY-RESTARTS", "the floor again", "process has ended", "restarted for the next request"},
		{endpoint.ErrExited, "RELAY-EXITED", "restore the seat", "allows no other", "start share again"},
	} {
		t.Run(c.code, func(t *testing.T) {
			var logged bytes.Buffer
			p := newPair(t, func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
				return endpoint.Reply{}, fmt.Errorf("%w; its last words: no memory", c.kind)
			}, func(p *pair) {
				p.candid = false
				p.shareConfig.Log = slog.New(slog.NewTextHandler(&logged, nil))
			})
			_, err := p.seat.Speak(t.Context(), prompt("req_1", "x"), newFloor())
			var coded *problem.Error
			if !errors.As(err, &coded) || coded.Code != c.code || !strings.Contains(coded.Fix, c.fix) || strings.Contains(err.Error(), "no memory") {
				t.Errorf("the host is told %v, with the fix %+v", err, coded)
			}
			if back := errors.Is(err, endpoint.ErrInterrupted); back != errors.Is(c.kind, endpoint.ErrInterrupted) {
				t.Errorf("the error says that the agent comes back: %v", back)
			}
			p.stopShare()
			for _, want := range []string{c.log, "no memory", c.next} {
				if !strings.Contains(logged.String(), want) {
					t.Errorf("the agent's owner is not told %q:\n%s", want, &logged)
				}
			}
		})
	}
}
