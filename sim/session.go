package sim

import "github.com/folkmoot/moot/room"

// A session is a running session that has a seat.
type session struct{}

func (h *hosted) offer(e room.Speak, running *effect, a *agent) {}

func (a *agent) sessionActs(h *hosted) {}
