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
	"github.com/folkmoot/moot/internal/problem"
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
	var said *problem.Error
	if !errors.Is(err, endpoint.ErrExited) || !strings.Contains(err.Error(), "RELAY-EXITED") || strings.Contains(err.Error(), "no memory") {
		t.Errorf("the host is told %v", err)
	}
	if !errors.As(err, &said) || !strings.Contains(said.Fix, "restore the seat") {
		t.Errorf("the host is not told what to do: %v", err)
	}
	p.stopShare()
	for _, want := range []string{"process has ended", "no memory", "started anew for the next request"} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("the agent's owner is not told %q:\n%s", want, &logged)
		}
	}
}
