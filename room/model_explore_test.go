package room_test

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// withExploration lets a room explore. Its name is a part of the seeds.
func withExploration(rt *rapid.T, o *room.Open) {
	o.Spec.Explore = rapid.SampledFrom([]float64{0.1, 0.5, 1}).Draw(rt, "explore")
	o.Spec.Room = fmt.Sprint("r", rapid.IntRange(1, 999).Draw(rt, "room"))
}

// drawScores draws what the policy states of the participants.
func drawScores(rt *rapid.T) []policy.Score {
	return rapid.SampledFrom([][]policy.Score{
		nil, {{Agent: "a", Score: 0.75}, {Agent: "b", Score: 0.25}}, {{Agent: "c", Score: 8}, {Agent: "ghost", Score: 2}}, {{Agent: "b"}},
	}).Draw(rt, "scores")
}
