// Package coordinator runs rooms. It is the shell around the pure package room:
// it starts the effects that a room's state demands, and records what happened.
//
// # Model
//
// A [Room] has one goroutine, that of [Room.Run], and only this goroutine
// touches the state. Everything else reaches it as a command through a channel:
// the commands of people ([Room.Do]), decisions of the policy, replies of
// agents, the passing of time. A [Host] runs many rooms in one process and
// unloads those that are idle.
//
//	cfg := coordinator.Config{Log: db, Policy: loadPolicy, Endpoint: openEndpoint, Owner: "host 1"}
//	r, err := coordinator.Open(ctx, cfg, spec, participants)
//	...
//	go func() { done <- r.Run(ctx) }()
//	for u, err := range r.Watch(ctx, 0, room.UserVisible) { ... }
//
// # Order
//
// For each command the loop does four things, in this order:
//
//	decide     events, err := state.Decide(command, now)
//	append     log.Append(events); they are on stable storage when it returns
//	apply      state.Apply(event); then the watchers are woken
//	reconcile  start the effects that are missing, cancel those that have gone
//
// A quick policy ([QuickPolicy]) is asked at the end of a turn before that is stored, and one
// append stores both. The state is ahead of the log meanwhile. Readers wait until the events
// are stored, or read the log while a disk stalls.
//
// Nothing is sent before the event that says so is durable. A crash therefore
// never loses the record of a prompt that was sent. The prompt of a turn is
// rendered before its grant, whose event has the digest of the text. It is sent as it
// was rendered, and rendered again only where something has happened since.
//
// # Pause
//
// A pause must not wait for a disk. [Room.Do] first closes a gate, which
// cancels all effects and lets none start, without the help of the loop. The
// event that records the pause follows when the log has stored it. If the pause
// turns out to change nothing, the gate opens again, and a turn that it had
// cancelled is recorded as interrupted.
//
// # Failure
//
//   - A policy that fails pauses the room.
//   - An endpoint that fails ends its turn; see the codes of [room.TurnFailed].
//   - A policy or endpoint that panics fails in its own room only.
//   - [log.ErrConflict] means that another process owns the room: Run returns
//     [ErrFenced].
//   - [log.ErrUnknown] is retried, with pauses, until the outcome of the append is known or
//     the log is [log.ErrFailed].
//   - Any other error of the log or of the audit log ends Run. Events that are
//     not stored are never acknowledged; [Reopen] finds out which are.
//
// # Budgets
//
// Before the policy is asked, the coordinator reads from the ledger of the log what the
// agents of seats have used in all rooms, and tells the room ([room.Measured]). Before a
// turn is granted it reserves the estimate of the prompt, in one transaction with the
// check. Before the end of a turn is stored, the real figures replace the estimate.
//
// # Recovery
//
// [Reopen] folds the log, beginning at the newest snapshot that matches it,
// and claims the room: a new epoch, in which a turn that was in flight is
// recorded as interrupted. A snapshot is disposable. Where the log has only the
// digest of a policy's state, the policy is asked again with the recorded input
// and must return the same state.
package coordinator
