// Package coordinator runs rooms: it does what a room's state asks for and
// writes down what happened.
//
// # Model
//
// Each room has one goroutine, [Room.Run]'s, and only that goroutine touches
// the state. Everything else is a command: what people want ([Room.Do]), what
// a policy decided, what an agent replied. For each command the loop
//
//	decides   events, err := state.Decide(command, now)
//	appends   log.Append(events): on stable storage
//	applies   state.Apply(event); watchers are told
//	acts      starts the effects that are missing, cancels those that have gone
//
// in this order. Nothing is sent before the event that says so is durable, so
// a crash never forgets a prompt that has left.
//
// # Pause
//
// A pause must not wait for a disk. [Room.Do] first closes a gate and cancels
// what is in flight without the loop's help; no effect starts while the gate
// is closed. The event that records the pause follows when the log takes it.
//
// # Failure
//
// A policy that fails pauses the room. An endpoint that fails ends its turn.
// ErrConflict from the log means that another process owns the room: the room
// is dropped at once. Any other error of the log ends Run; nothing is
// acknowledged that is not stored, and reopening the room finds out what is.
package coordinator
