package ndjson_test

import (
	"os"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpointtest"
	"github.com/folkmoot/moot/endpoints/ndjson"
)

// fixed returns an endpoint whose agent is this test binary.
func fixed(t *testing.T, s endpointtest.Scenario) *ndjson.Endpoint {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cfg := ndjson.Config{
		Command: []string{self}, Dir: t.TempDir(), Env: []string{fixtureVar + "=" + string(s)},
		AllowEnv: []string{"GOCOVERDIR"}, Grace: 150 * time.Millisecond, MaxLine: 128 << 10,
	}
	switch s {
	case endpointtest.Restarts:
		cfg.Restart = 1
	case endpointtest.Mortal:
		cfg.Restart = 100
	case endpointtest.Late, endpointtest.Echo:
		cfg.Grace = 10 * time.Second
	}
	return ndjson.New(cfg)
}

func TestConformance(t *testing.T) {
	endpointtest.Run(t, func(t *testing.T, s endpointtest.Scenario) endpointtest.Endpoint { return fixed(t, s) })
}
