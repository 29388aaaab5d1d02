// Package sim simulates whole rooms from a seed and checks invariants after each
// step. It is deterministic: it starts no goroutine, reads no clock, and draws all
// choices from one random source. The same seed, number of steps and faults give the
// same events, byte for byte, on every machine.
//
// # Model
//
// A simulation has one process that hosts rooms, a disk that keeps their logs, agents,
// people, programs that call the host, and spectators:
//
//	Run ── simulation ─┬─ process ── hosted (one room: queue, gate, effects)
//	                   ├─ disk (what is durable, and what is only written)
//	                   ├─ agents, people, callers, spectators
//	                   └─ queue of timers (the clock)
//
// A hosted room is a sequential copy of what package coordinator does with goroutines:
// it decides a command with [room.State.Decide], appends the events, waits until they
// are durable, applies them, answers the caller, tells spectators, and starts the
// effects that are missing. A pause closes the gate of the room before the command is
// handled, as it does in the coordinator. Some decisions are stored with the end of the turn
// before them, as those of a quick policy are. The state machine is the real one; hosts,
// disk, agents and network are the simulation's own.
//
// # Steps
//
// Each step takes one action: it handles the next request of a room, lets time pass
// until the next timer, lets a person, a caller, an agent or a spectator act, or injects
// a fault. The choices of a step depend on the seed and its number only. So a failing
// run is made smaller by leaving steps out; see [Shrink].
//
// # Faults
//
// [Faults] lists them. A crash loses the memory of the process and a part of what was
// written and not yet durable, and tears batches. The disk fails writes and syncs, once or until it is
// replaced, and leaves the result of an append unknown. Agents answer late, twice,
// under forged ids, too long, or never, and end. The network loses, repeats and
// reorders. The wall clock jumps.
//
// # Reference model
//
// A model of package reference runs next to the rooms of every fourth seed, and has to
// give the same answers, events and states.
//
// # Situations
//
// [Situations] names what a set of runs must have reached. A simulation that finds
// nothing because it does little fails.
package sim
