package logtest

import (
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"
)

// A History has the calls on one room with their answers. The room must be linearizable: as
// if each call took place at one time between its begin and its end (Herlihy and Wing, 1990).
// The model is an append-only register with compare-and-set.
type History []porcupine.Operation

// A Call is what was asked of a room.
type Call struct {
	Op    Op
	After int    // place of an append
	IDs   string // of the events of an append, each with a comma after it
}

// An Op is a kind of call.
type Op int

// Ops. Again repeats an append that was acknowledged. Post appends at the end of the room,
// unless it has the id already.
const (
	Append Op = iota
	Again
	Post
	Read
)

// An Answer is how a call ended.
type Answer struct {
	Result Result
	IDs    string // that were read
}

// A Result says whether an append took place.
type Result int

// Results. Unknown is that of an append which may have taken place, or take place at any
// later time.
const (
	Done Result = iota
	Conflict
	Unknown
)

// register is the state of the model: the ids of all events, each with a comma after it.
type register string

func (r register) len() int { return strings.Count(string(r), ",") }

// has reports whether the ids are directly after an event.
func (r register) has(after int, ids string) bool {
	rest := string(r)
	for range after {
		_, rest, _ = strings.Cut(rest, ",")
	}
	return strings.HasPrefix(rest, ids)
}

// hasAny reports whether one of the ids is anywhere.
func (r register) hasAny(ids string) bool {
	for id := range strings.SplitSeq(strings.TrimSuffix(ids, ","), ",") {
		if strings.Contains(","+string(r), ","+id+",") {
			return true
		}
	}
	return false
}

// step reports whether the register gives that answer to the call, and returns its state
// after it.
func (r register) step(c Call, a Answer) (bool, register) {
	free := r.len() == c.After && !r.hasAny(c.IDs)
	switch {
	case c.Op == Read:
		return a.IDs == string(r), r
	case c.Op == Post && r.hasAny(c.IDs):
		return true, r
	case c.Op == Post:
		return true, r + register(c.IDs)
	case c.Op == Again:
		return r.has(c.After, c.IDs), r
	case a.Result == Conflict:
		return !free && !r.has(c.After, c.IDs), r
	case free:
		return true, r + register(c.IDs)
	}
	return a.Result == Unknown, r
}

// Linearizable reports whether the model explains the history. Each state must agree with the
// longest read, because nothing is ever removed: without this bound the order of calls with an
// unknown outcome would make the search exponential.
func (h History) Linearizable() bool {
	longest := ""
	for _, o := range h {
		if ids := o.Output.(Answer).IDs; len(ids) > len(longest) {
			longest = ids
		}
	}
	return porcupine.CheckOperations(porcupine.Model{
		Init: func() any { return register("") },
		Step: func(state, input, output any) (bool, any) {
			ok, next := state.(register).step(input.(Call), output.(Answer))
			return ok && (strings.HasPrefix(longest, string(next)) || strings.HasPrefix(string(next), longest)), next
		},
	}, h)
}

// String lists the calls.
func (h History) String() string {
	var b strings.Builder
	for _, o := range h {
		fmt.Fprintf(&b, "caller %d, %d to %d: %+v: %+v\n", o.ClientId, o.Call, o.Return, o.Input, o.Output)
	}
	return b.String()
}
