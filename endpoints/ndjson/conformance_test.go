package ndjson_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
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
		cfg.Grace = hangGuard
	}
	return ndjson.New(cfg)
}

func open(t *testing.T, s endpointtest.Scenario) endpointtest.Endpoint { return fixed(t, s) }

// TestConformance runs the suite of all endpoints.
func TestConformance(t *testing.T) { endpointtest.Run(t, open) }

// TestDocumentedAbilities compares docs/agents.md with the suite.
func TestDocumentedAbilities(t *testing.T) {
	endpointtest.Documented(t, "../../docs/agents.md", "ndjson", open)
}

// BenchmarkSpeak measures one turn of an agent in Go, with a small prompt and with
// a full window.
func BenchmarkSpeak(b *testing.B) {
	for name, size := range map[string]int{"small": 10, "24kB": 24_000} {
		b.Run(name, func(b *testing.B) {
			self, err := os.Executable()
			if err != nil {
				b.Fatal(err)
			}
			e := ndjson.New(ndjson.Config{Command: []string{self}, Env: []string{fixtureVar + "=echo"}})
			defer e.Close()
			p := endpoint.Prompt{
				Kind: endpoint.Turn, History: []endpoint.Line{{From: "you", Text: strings.Repeat("x", size)}},
				CatchUp: []endpoint.Line{{From: "you", Text: "hello"}}, MaxOutputChars: 1000,
			}
			if err := e.Start(b.Context(), nil); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				p.Request = strconv.Itoa(i)
				if _, err := e.Speak(b.Context(), p, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
