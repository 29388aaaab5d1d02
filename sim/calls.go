package sim

import (
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
)

// runCall runs the child room of a call, or ends it.
func (h *hosted) runCall(e room.RunCall, running *effect) {
	do := room.CallReturned{Call: e.Call, State: calls.Completed, Result: calls.Result{Output: "done", Tokens: int64(h.s.src.below(300))}}
	if e.Cancel != "" {
		do.State, do.Result.Output = calls.Canceled, ""
	}
	h.result(running, h.s.elapsed(), room.ActorRoom, func() room.Act { return do })
}
