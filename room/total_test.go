package room_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/invariant"
)

// TestApplyIsTotal applies the events of random rooms in any order, with gaps and
// repetitions, as a hostile transcript may hold them. No event makes Apply panic.
func TestApplyIsTotal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := &script{checks: invariant.New()}
		s.open(rt)
		for _, line := range rapid.SliceOfN(rapid.Custom(command), 1, 30).Draw(rt, "commands") {
			if !strings.HasPrefix(line, "wait ") {
				s.do(t, discard(), line)
			}
		}
		var hostile room.State
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(s.log)-1), 1, 60).Draw(rt, "order") {
			e := s.log[i]
			e.Seq = hostile.Seq + 1
			hostile.Apply(e)
		}
	})
}
