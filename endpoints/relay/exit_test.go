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
)

// TestExitIsSaid: that an agent has ended both owners are told, each with what
// to do; its last words only its own.
func TestExitIsSaid(t *testing.T) {
	var logged bytes.Buffer
	p := newPair(t, func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
		return endpoint.Reply{}, fmt.Errorf("%w; its last words: no memory", endpoint.ErrExited)
	})
	p.share.desks["theirs"].Candid = false
	p.share.cfg.Log = slog.New(slog.NewTextHandler(&logged, nil))
	_, err := p.seat.Speak(t.Context(), prompt("req_1", "x"), newFloor())
	var fixed interface{ ErrorFix() string }
	if !errors.Is(err, endpoint.ErrExited) || !strings.Contains(err.Error(), "RELAY-EXITED") || strings.Contains(err.Error(), "no memory") {
		t.Errorf("the host is told %v", err)
	}
	if !errors.As(err, &fixed) || !strings.Contains(fixed.ErrorFix(), "restore the seat") {
		t.Errorf("the host is not told what to do: %v", err)
	}
	p.stopShare()
	for _, want := range []string{"process has ended", "no memory", "started anew for the next request"} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("the agent's owner is not told %q:\n%s", want, &logged)
		}
	}
}
