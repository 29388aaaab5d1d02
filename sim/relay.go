package sim

import "github.com/folkmoot/moot/room"

func (h *hosted) overRelay(e room.Speak, running *effect, a *agent) {
	h.s.after(h.s.elapsed(), func() { a.receive(h, e, running) })
}
