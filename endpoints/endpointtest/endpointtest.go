// Package endpointtest is the test suite of all endpoints: one request in flight,
// one result, deadlines, cancellation, malformed output, late and duplicate
// answers, limits, exit, restart and close.
//
// The test of an endpoint states how to open it with an agent of a given
// behaviour:
//
//	func TestConformance(t *testing.T) {
//		endpointtest.Run(t, func(t *testing.T, s endpointtest.Scenario) endpointtest.Endpoint {
//			return New(...)
//		})
//	}
package endpointtest

import (
	"testing"
	"time"
)

// An Opener returns an endpoint whose agent behaves as s states, with a short
// grace period for agents that hang. It returns nil if its kind of agent cannot
// behave so; the case is then skipped. The suite closes the endpoint.
type Opener func(t *testing.T, s Scenario) Endpoint

// Run runs the suite.
func Run(t *testing.T, open Opener) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := open(t, c.agent)
			if e == nil {
				t.Skipf("this kind of agent cannot behave as %q", c.agent)
			}
			h := &harness{T: t, Endpoint: e, floor: newFloor(), limit: 60 * time.Second}
			t.Cleanup(func() { e.Close() })
			c.run(h)
		})
	}
}
