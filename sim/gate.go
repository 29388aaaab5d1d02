package sim

import (
	"slices"
	"strings"
)

// A gate starts and cancels the effects of a room, as that of package coordinator. A
// pause closes it before the command is handled.
type gate struct {
	closed  int  // requests that hold it closed
	held    bool // by the room of the caller
	running []*effect
	cut     []string // keys that a close has cancelled and that are still wanted
}

// An effect is work in progress outside the room.
type effect struct {
	key       string
	cancelled bool
	done      bool // its result is on its way to the room
	stop      func()
	request   string // of a Speak
}

// has reports whether an effect runs whose key begins so.
func (g *gate) has(prefix string) bool {
	return slices.ContainsFunc(g.running, func(e *effect) bool { return strings.HasPrefix(e.key, prefix) })
}

// cutNow reports whether the gate has cancelled an effect whose key begins so.
func (g *gate) cutNow(prefix string) bool {
	return slices.ContainsFunc(g.cut, func(key string) bool { return strings.HasPrefix(key, prefix) })
}

// start registers an effect. It returns nil while the gate is closed or the effect runs.
// cut says that a close has cancelled an earlier start.
func (g *gate) start(key string) (e *effect, cut bool) {
	if g.closed > 0 || g.held || g.find(key) != nil {
		return nil, false
	}
	e = &effect{key: key}
	g.running = append(g.running, e)
	return e, slices.Contains(g.cut, key)
}

func (g *gate) find(key string) *effect {
	for _, e := range g.running {
		if e.key == key {
			return e
		}
	}
	return nil
}

// end removes an effect that has ended.
func (g *gate) end(key string) {
	g.running = slices.DeleteFunc(g.running, func(e *effect) bool { return e.key == key })
}

// keep cancels the effects that are not wanted.
func (g *gate) keep(wanted []string) {
	g.running = slices.DeleteFunc(g.running, func(e *effect) bool {
		if slices.Contains(wanted, e.key) {
			return false
		}
		e.cancel()
		return true
	})
	g.cut = slices.DeleteFunc(g.cut, func(key string) bool { return !slices.Contains(wanted, key) })
}

// close cancels all effects and starts none until each close is undone.
func (g *gate) close() {
	g.closed++
	g.cutAll()
}

func (g *gate) cutAll() {
	for _, e := range g.running {
		e.cancel()
		g.cut = append(g.cut, e.key)
	}
	g.running = nil
}

func (e *effect) cancel() {
	e.cancelled = true
	if e.stop != nil {
		e.stop()
	}
}

// open undoes one close.
func (g *gate) open() { g.closed-- }

// hold closes the gate with that of the caller's room.
func (g *gate) hold() {
	g.held = true
	g.cutAll()
}
