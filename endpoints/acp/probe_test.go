package acp_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/acp"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/endpointtest"
)

func probe(ctx context.Context, t *testing.T, s endpointtest.Scenario) (acp.Report, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return acp.Probe(ctx, acp.Config{
		Command: []string{self}, Dir: t.TempDir(), Env: []string{fixtureVar + "=" + string(s)}, AllowEnv: []string{"GOCOVERDIR"},
		Grace: 150 * time.Millisecond, Close: 150 * time.Millisecond,
	})
}

// TestProbe: a probe tells the version of an agent and whether its owner is signed
// in. TestMain checks that nothing of it is left.
func TestProbe(t *testing.T) {
	t.Parallel()
	for s, signedOut := range map[endpointtest.Scenario]bool{endpointtest.Echo: false, endpointtest.Stubborn: false, "signed-out": true, "says-signed-out": true} {
		t.Run(string(s), func(t *testing.T) {
			t.Parallel()
			r, err := probe(t.Context(), t, s)
			if err != nil || r.Name != "fixture" || r.Version != "1.2.3" || r.SignedOut != signedOut || r.Took <= 0 {
				t.Errorf("%+v and %v", r, err)
			}
		})
	}
}

// TestProbeFails: an agent that ends or never opens a session is an error, and its
// probe ends with its context.
func TestProbeFails(t *testing.T) {
	t.Parallel()
	if r, err := probe(t.Context(), t, "exit-in-new"); !errors.Is(err, endpoint.ErrExited) || r.SignedOut {
		t.Errorf("an agent that ends: %+v and %v", r, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := probe(ctx, t, "no-session"); !errors.Is(err, endpoint.ErrExited) {
		t.Errorf("an agent that opens no session: %v", err)
	}
	void, interrupt := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	interrupt(interrupted)
	if _, err := probe(void, t, endpointtest.Echo); !errors.Is(err, interrupted) {
		t.Errorf("a probe that is interrupted: %v", err)
	}
}
