package config

import (
	"os"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A Room is room.yaml with what it includes, checked and expanded.
type Room struct {
	Path         string // of room.yaml, as it was given
	Dir          string // its folder, absolute: relative paths start here
	Files        []File // every file read, room.yaml first
	Name         string
	Objective    string
	Constraints  []string
	OneToOne     bool
	OnRestart    string // room.RestartPause or room.RestartContinue
	Participants []Participant
	Observers    []room.Observer
	Policy       Policy
	Limits       room.Limits  // as written; zero fields mean the defaults
	Context      room.Context // likewise
}

// A File is one file that was read. Outside says that an include led out of
// room.yaml's folder.
type File struct {
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	Outside bool   `json:"outside,omitempty"`
}

// A Participant is one seat.
type Participant struct {
	Position
	Seat     room.Participant // Seat.Endpoint is as it was written
	Endpoint *Endpoint        // expanded; nil for a person. Never logged, never shown
}

// A Policy is which policy decides.
type Policy struct {
	Position
	Use      string      // a built-in's name, or a path
	Path     string      // absolute, when Use is a path
	SHA256   string      // of the module that is meant; "" is any
	Settings policy.JSON // nil when there are none
	Hints    bool        // it may hand hints to agents
}

// Options say how to read a room.
type Options struct {
	// Headless means that nobody is there to approve a draft.
	Headless bool
	// Lookup finds variables; nil is os.LookupEnv.
	Lookup func(name string) (value string, ok bool)
	// Policies are the names of the policies that are there; nil leaves names
	// unchecked.
	Policies []string
	// SettingsSchema returns the JSON Schema of a policy's settings, nil when
	// it has none. A nil func leaves settings unchecked.
	SettingsSchema func(use string) ([]byte, error)
	// CheckScript checks the text of a scripted agent; name is for messages.
	// A nil func leaves scripts unchecked.
	CheckScript func(name string, text []byte) error
	// GoEndpoint reports an agent in Go that the program does not have. A nil
	// func has none.
	GoEndpoint func(name string) error
	// Device finds the device that a relay seat is on, by name or id, and what
	// its owner is called. A nil func leaves peers unchecked.
	Device func(peer string) (id, owner string, err error)
	// Observer finds the device of an observer, and what its owner is called; the
	// error says why it cannot be one. A nil func leaves observers unchecked.
	Observer func(peer string) (id, name string, err error)
}

// Load reads the room at path with everything that it includes. The problems
// are all there are, warnings too; the room is nil when one of them is an
// error.
func Load(path string, o Options) (*Room, Problems) {
	if o.Lookup == nil {
		o.Lookup = os.LookupEnv
	}
	return open(path, o.Lookup).load(o)
}

// LoadText is like Load for the text of a room.yaml. Relative paths start at
// dir, "" being the working folder.
func LoadText(text []byte, dir string, o Options) (*Room, Problems) {
	if o.Lookup == nil {
		o.Lookup = os.LookupEnv
	}
	return openText(text, dir, o.Lookup).load(o)
}

// load checks and decodes what was read.
func (d *document) load(o Options) (*Room, Problems) {
	if d.root == nil {
		return nil, d.problems
	}
	w := d.decode()
	r := d.build(w)
	d.checkMeaning(w, r, o)
	d.seatRemotes(w, r, o)
	d.findObservers(w, r, o)
	d.sortProblems()
	for _, s := range d.secrets {
		d.hide(s)
	}
	if d.problems.Errors() > 0 {
		return nil, d.problems
	}
	return r, d.problems
}

// Spec returns what the room is opened with. id and secret are the caller's;
// of the policy only what room.yaml says is set.
func (r *Room) Spec(id, secret string) (room.Spec, []room.Participant) {
	seats := make([]room.Participant, len(r.Participants))
	for i, p := range r.Participants {
		seats[i] = p.Seat
	}
	return room.Spec{
		Room: id, Name: r.Name, Objective: r.Objective, Constraints: r.Constraints,
		OneToOne: r.OneToOne, Secret: secret, Limits: r.Limits, Context: r.Context,
		Policy:    room.PolicyRef{Use: r.Policy.Use, Settings: r.Policy.Settings, Hints: r.Policy.Hints},
		OnRestart: r.OnRestart, Dir: r.Dir, Observers: r.Observers,
	}, seats
}
