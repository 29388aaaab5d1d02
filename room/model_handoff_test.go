package room_test

import (
	"pgregory.net/rapid"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room/reference"
)

// drawHandOff draws the wish of an agent, seldom none, and mostly one that is allowed.
func drawHandOff(rt *rapid.T, m *reference.Model) *endpoint.Handoff {
	if m.Turn == nil || rapid.IntRange(0, 2).Draw(rt, "hand-off") > 0 {
		return nil
	}
	to := rapid.SampledFrom([]string{"a", "b", "c", "a", "b", "c", "me", "ghost", "dba", ""}).Draw(rt, "to")
	return &endpoint.Handoff{To: to, Reason: rapid.SampledFrom([]string{"", "locks are hers"}).Draw(rt, "why")}
}
