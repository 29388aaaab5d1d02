// Package room is the state machine of a room: an append-only log of events,
// the state that the log folds to, and the rules by which a command becomes
// events.
//
// The package is pure. It starts no goroutines, performs no input or output
// and never reads the clock; package coordinator does those things for it.
//
//	events, err := state.Decide(command, now) // what would happen
//	log.Append(events...)                     // make it durable
//	for _, e := range events { state.Apply(e) }
//	for _, f := range state.Effects() { ... } // what must be under way now
//
// Decide leaves the state unchanged. Apply is total: it never fails, whatever
// the log holds, and the state after it depends on nothing but the events
// applied. So a crash is a reload, and a replay sees what the room saw.
package room
