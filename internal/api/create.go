package api

import (
	"encoding/json"

	"github.com/folkmoot/moot/room"
)

// A Create asks for a room to run: a new one that YAML or File describes, or the
// stored one with the id Room.
type Create struct {
	ID   string `json:"id,omitempty" pattern:"^r_[0-9a-z]{1,60}$" doc:"The id of the new room: r_ and letters and digits. A request with the id of a room that exists makes no other and gets that one. Without it the server makes an id"`
	YAML string `json:"yaml,omitempty" maxLength:"1048576" doc:"The text of a room.yaml. The server expands its variables"`
	File string `json:"file,omitempty" doc:"The absolute path of a room.yaml on the server. With yaml it only says where that text is from"`
	Dir  string `json:"dir,omitempty" doc:"The folder on the server at which relative paths in yaml begin; without it that of file"`
	Room string `json:"room,omitempty" maxLength:"128" doc:"The id of a stored room, instead of yaml"`

	Options RunOptions `json:"options,omitzero"`
}

// RunOptions say how a room is run. The zero value runs it as it is described, and
// keeps it until the server ends.
type RunOptions struct {
	Headless      bool        `json:"headless,omitempty" doc:"The room ends when it is no longer live"`
	Foreground    bool        `json:"foreground,omitempty" doc:"The room is unloaded when it has ended, and only then"`
	Mode          room.Mode   `json:"mode,omitempty" doc:"Approval mode of all agents of a new room: manual, semi_auto or full_auto"`
	Policy        string      `json:"policy,omitempty" doc:"A policy instead of the room's: a name, or a path that begins with ./"`
	MaxTurns      int         `json:"maxTurns,omitempty" doc:"The limit of turns"`
	Limits        room.Limits `json:"limits,omitzero" doc:"Limits instead of the room's, where they are not 0"`
	Restore       []string    `json:"restore,omitempty" doc:"Seats of a stored room that were suspended or muted and take part again"`
	As            string      `json:"as,omitempty" doc:"The person who opens the room; without it the first on the roster, else the host"`
	Say           string      `json:"say,omitempty" doc:"The first message, in place of opening in yaml"`
	First         []Command   `json:"first,omitempty" doc:"What that person does before the room runs, after say"`
	TrustCommands bool        `json:"trustCommands,omitempty" doc:"A stored room that was imported may start the commands that its log names"`
	Share         bool        `json:"share,omitempty" doc:"Share the agents of the settings' profiles too"`
}

// Created is the answer to a Create.
type Created struct {
	Room     string   `json:"room" doc:"The id of the room that runs"`
	Warnings []string `json:"warnings,omitempty" doc:"What is questionable in yaml"`
}

// Shown is a room as its server shows it to the caller.
type Shown struct {
	room.View
	Raised  room.Limits    `json:"raised,omitzero" doc:"Limits with which a room that a limit has stopped can go on"`
	InForce room.PolicyRef `json:"policy_in_force,omitzero" doc:"The policy"`
	Process int            `json:"process,omitempty" doc:"The process that runs the room now"`

	NotEnforced []NotEnforced `json:"not_enforced,omitempty" doc:"For callers with control: tools that agents may not use and that their programs use without asking"`

	Events []json.RawMessage `json:"last_events,omitempty" doc:"The last events that the caller may see, as many as it asks for"`
}

// NotEnforced are the kinds of tools that an agent may not use and could use all the same.
type NotEnforced struct {
	Participant string   `json:"participant"`
	Tools       []string `json:"tools"`
	Why         string   `json:"why"`
}

// ShownOf returns the form of v.
func ShownOf(v room.View, policy room.PolicyRef) Shown {
	return Shown{View: v, Raised: v.Raised, InForce: policy}
}

// Decode returns what s shows.
func (s Shown) Decode() room.View {
	v := s.View
	v.Raised = s.Raised
	return v
}

// A Fork asks for a new room of the beginning of another.
type Fork struct {
	At     string `json:"at" maxLength:"20" doc:"The last event that is taken, by number, or the last turn, as t7"`
	ID     string `json:"id,omitempty" pattern:"^r_[0-9a-z]{1,60}$" doc:"The id of the new room; without it the server makes one"`
	Run    bool   `json:"run,omitempty" doc:"The new room goes on at once"`
	Policy string `json:"policy,omitempty" maxLength:"128" doc:"A policy instead of the room's, if it goes on"`
}
