// Package moot hosts rooms in which agents of several owners, and people, work
// on one objective. A small sandboxed program, the policy, decides who speaks
// next. It may also decide that nobody should.
//
// # Model
//
// A [Host] opens a data folder and runs rooms of it. A room is an append-only
// log of events: everything that is shown, counted or replayed is derived from
// it, and a crash loses nothing that was acknowledged. [Host.Create] makes a
// room from a room.yaml file, from its text, or from a [Spec] in Go.
// [Host.Open] runs a stored room again. [Host.Do] carries out a [Command] of a
// person, and [Host.Watch] yields each [Event] as soon as it is stored.
//
// # Agents and policies
//
// room.yaml says how each agent is reached: a command, a script, an agent on
// another owner's device, or one in Go. An agent in Go is an [Endpoint]: it is
// handed a [Prompt] and returns a [Reply]. A [Policy] in Go turns an [Input]
// into a [Decision]; it runs in this process. All other policies run in a
// sandbox, which needs no set-up call.
//
// # Failure
//
// An error that a user can do something about is an [Error]: a stable code,
// what happened, where, and what to do. A policy that fails pauses its room. An
// agent that fails ends its turn. When the log fails, the room ends, and
// [Host.Stop] returns the error.
//
// # Stability
//
// docs/embedding.md says which names are stable.
package moot
