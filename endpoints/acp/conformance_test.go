package acp_test

import (
	"os"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/acp"
	"github.com/folkmoot/moot/endpoints/endpointtest"
)

// fixed returns an endpoint whose agent is this test binary, or nil if an agent of
// the protocol cannot behave so: it has no bids, messages, calls, hand-offs or confidence, an
// empty text is a failure, a pass has no reason, and wrong usage is unknown.
func fixed(t *testing.T, s endpointtest.Scenario) endpointtest.Endpoint {
	t.Helper()
	switch s {
	case endpointtest.Empty, endpointtest.Passes, endpointtest.Stated, endpointtest.Bids, endpointtest.SideMessage,
		endpointtest.Messages, endpointtest.HandsOff, endpointtest.Calls, endpointtest.Negative, endpointtest.WrongTools, endpointtest.Restarts:
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cfg := acp.Config{
		Command: []string{self}, Dir: t.TempDir(), Env: []string{fixtureVar + "=" + string(s)},
		AllowEnv: []string{"GOCOVERDIR"}, Grace: 150 * time.Millisecond,
	}
	switch s {
	case endpointtest.Overlong:
		cfg.MaxLine = 128 << 10
	case endpointtest.Mortal:
		cfg.Restart = 100
	case endpointtest.Late, endpointtest.Echo:
		cfg.Grace = hangGuard
	}
	return acp.New(cfg)
}

// TestConformance runs the suite of all endpoints.
func TestConformance(t *testing.T) { endpointtest.Run(t, fixed) }

// TestDocumentedAbilities compares docs/agents.md with the suite.
func TestDocumentedAbilities(t *testing.T) {
	endpointtest.Documented(t, "../../docs/agents.md", "acp", fixed)
}
