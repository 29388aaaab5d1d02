package config

import (
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A Room is room.yaml with its included files, checked and expanded.
type Room struct {
	Path         string // of room.yaml, as given
	Dir          string // its folder, absolute: relative paths start here
	Files        []File // every file read, room.yaml first
	Name         string
	Objective    string
	Opening      string // first message; "" for none
	Constraints  []string
	OneToOne     bool
	OnRestart    string // room.RestartPause or room.RestartContinue
	Participants []Participant
	Agents       []Participant // without a seat, for calls
	Observers    []room.Observer
	Policy       Policy
	Limits       room.Limits  // zero fields mean the defaults
	Context      room.Context // zero fields mean the defaults
}

// A File is one file that was read. Outside means that it is not in the folder
// of room.yaml.
type File struct {
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	Outside bool   `json:"outside,omitempty"`
}

// A Participant is one entry of participants.
type Participant struct {
	Position
	Seat     room.Participant // Seat.Endpoint is as written
	Endpoint *Endpoint        // expanded; nil for a person. Must not be logged or shown
}

// A Policy names the policy of the room.
type Policy struct {
	Position
	Use      string      // a name or a path
	Path     string      // absolute, if Use is a path
	SHA256   string      // required digest of the module; "" allows any
	Settings policy.JSON // nil for none
	Hints    bool        // the policy may give hints to agents
	Explore  float64     // see room.Spec
}

// Options say how to read a room.
type Options struct {
	// Headless means that no person can approve drafts.
	Headless bool
	// Lookup returns variables; nil means os.LookupEnv.
	Lookup func(name string) (value string, ok bool)
	// Policies are the names of the available policies; nil allows any name.
	Policies []string
	// SettingsSchema returns the JSON Schema of the settings of a policy, nil for
	// none, and whether the policy is built in; the schema of another is checked
	// in a process of its own. A nil func disables the check of settings.
	SettingsSchema func(use string) (schema []byte, builtIn bool, err error)
	// CheckScript checks the script of a scripted agent. name is for messages. A
	// nil func disables the check.
	CheckScript func(name string, text []byte) error
	// AgentProgram returns the program of a known agent, and the command that
	// installs it. A nil func disables the check that it is installed.
	AgentProgram func(agent string) (program, install string)
	// GoEndpoint returns an error for an agent in Go that the program does not
	// have. A nil func means that it has none.
	GoEndpoint func(name string) error
	// Device finds a device by name or ID, and returns its ID and the name of its
	// owner. A nil func disables the check of peers.
	Device func(peer string) (id, owner string, err error)
	// Observer finds the device of an observer, and returns its ID and the name
	// of its owner. A nil func disables the check of observers.
	Observer func(peer string) (id, name string, err error)
}

// Spec returns the specification and the participants of a new room with that
// id and secret. Of the policy it sets only what room.yaml contains.
func (r *Room) Spec(id, secret string) (room.Spec, []room.Participant) {
	seats := make([]room.Participant, len(r.Participants))
	for i, p := range r.Participants {
		seats[i] = p.Seat
	}
	var agents []room.Participant
	for _, p := range r.Agents {
		agents = append(agents, p.Seat)
	}
	return room.Spec{
		Room: id, Name: r.Name, Objective: r.Objective, Constraints: r.Constraints,
		OneToOne: r.OneToOne, Secret: secret, Limits: r.Limits, Context: r.Context,
		Policy:    room.PolicyRef{Use: r.Policy.Use, Settings: r.Policy.Settings, Hints: r.Policy.Hints},
		OnRestart: r.OnRestart, Dir: r.Dir, Observers: r.Observers, Agents: agents, Explore: r.Policy.Explore,
	}, seats
}
