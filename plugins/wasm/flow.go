package wasm

import "maps"

// A set is what is known at a place, of some sort of facts.
type set[K comparable] map[K]bool

// meet keeps what both know, and reports whether that is less than before.
func (s set[K]) meet(other set[K]) (less bool) {
	for k := range s {
		if !other[k] {
			delete(s, k)
			less = true
		}
	}
	return less
}

// A walk follows one unit and what is known along it.
type walk[K comparable] struct {
	known  set[K]
	dead   bool // nothing comes here
	frames []frameFacts[K]
	jump   func(to int, known set[K])
}

// frameFacts is what is known where a frame within a unit begins, and at all
// places so far that lead behind it; nil for none.
type frameFacts[K comparable] struct {
	start, behind set[K]
	passed        bool // an if without an else: its start leads behind it
}

// flow follows the units until what is known at the start of each holds
// whichever way leads there, and returns that. Nothing is known at the start of
// the first.
func flow[K comparable](r *routine, follow func(u int, w *walk[K])) []set[K] {
	at := make([]set[K], len(r.units))
	var todo []int
	reach := func(u int, known set[K]) {
		switch {
		case u >= len(at):
			return
		case at[u] == nil:
			at[u] = maps.Clone(known)
		case !at[u].meet(known):
			return
		}
		todo = append(todo, u)
	}
	reach(0, set[K]{})
	for len(todo) > 0 {
		u := todo[0]
		todo = todo[1:]
		w := walk[K]{known: maps.Clone(at[u]), jump: reach}
		follow(u, &w)
		if !w.dead {
			reach(u+1, w.known)
		}
	}
	for u := range at {
		if at[u] == nil { // nothing leads there
			at[u] = set[K]{}
		}
	}
	return at
}

// pass takes an instruction for what it does to the way.
func (w *walk[K]) pass(r *routine, i instr) {
	switch i.op {
	case opIf:
		w.frames = append(w.frames, frameFacts[K]{start: maps.Clone(w.known), passed: true})
	case opBlock:
		w.frames = append(w.frames, frameFacts[K]{})
	case opLoop: // which Go does not write
		clear(w.known)
		w.frames = append(w.frames, frameFacts[K]{behind: set[K]{}})
	case opElse:
		f := &w.frames[len(w.frames)-1]
		w.leave(f)
		w.known, w.dead, f.passed = f.start, false, false
	case opEnd:
		f := &w.frames[len(w.frames)-1]
		w.leave(f)
		if f.passed {
			w.known, w.dead = f.start, false
			w.leave(f)
		}
		w.frames = w.frames[:len(w.frames)-1]
		if w.dead = f.behind == nil; !w.dead {
			w.known = f.behind
		}
	case opBr, opBrIf:
		if at := len(w.frames) - 1 - int(i.arg); at >= 0 {
			w.leave(&w.frames[at])
		}
		w.dead = w.dead || i.op == opBr
	case goJump, goJumpIf:
		if !w.dead {
			w.jump(r.unitOf(i.arg), w.known)
		}
		w.dead = w.dead || i.op == goJump
	case goOut, opReturn, opUnreachable:
		w.dead = true
	}
}

// leave notes that this place leads behind a frame.
func (w *walk[K]) leave(f *frameFacts[K]) {
	switch {
	case w.dead:
	case f.behind == nil:
		f.behind = maps.Clone(w.known)
	default:
		f.behind.meet(w.known)
	}
}
