package moot

import (
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// Parts of a room. See package room.
type (
	// A Room is a room that runs: it carries out commands, yields what happens,
	// and shows how it stands.
	Room = coordinator.Room
	// An Event is one entry of a room's log. Its Body says what happened.
	Event = room.Event
	// A Command asks for a change of a room: what Do, by which Actor.
	Command = room.Command
	// An Act is what a Command does: room.Say, room.Pause, room.Approve and so on.
	Act = room.Act
	// A Participant is a seat in a room: an agent or a person.
	Participant = room.Participant
	// A Spec is what a room is opened with.
	Spec = room.Spec
	// A Mode says whether a person approves what an agent says.
	Mode = room.Mode
	// An Update is what a watcher of a room is told: an Event, or live text.
	Update = coordinator.Update
	// An Error has a code for programs, and for people what happened, where,
	// and what to do.
	Error = problem.Error
)

// The contract of agents. See package endpoint.
type (
	// An Endpoint drives one seat: it answers a Prompt with a Reply.
	Endpoint = coordinator.Endpoint
	// A Prompt is what an agent is asked.
	Prompt = endpoint.Prompt
	// A Reply is how an agent answers.
	Reply = endpoint.Reply
	// A Floor is what an agent may use while it has the turn.
	Floor = endpoint.Floor
)

// Outcomes of a Reply: it says something, or has nothing to add.
const (
	Said   = endpoint.Said
	Passed = endpoint.Passed
)

// The contract of policies. See package policy.
type (
	// A Policy decides who speaks next.
	Policy = policy.Policy
	// A PolicyFunc is a Policy without settings.
	PolicyFunc = policy.Func
	// An Input is everything that a policy may know of a room.
	Input = policy.Input
	// A Decision is the answer of a policy: speak, decline or finish.
	Decision = policy.Decision
)

// Speak gives the floor to an agent that is eligible.
func Speak(id, reason string) Decision { return policy.Speak(id, reason) }

// Decline gives the floor to no agent in this round.
func Decline(reason string) Decision { return policy.Decline(reason) }

// Finish completes the room.
func Finish(reason string) Decision { return policy.Finish(reason) }
