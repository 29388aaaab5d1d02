package api

import (
	"encoding/json"

	"github.com/folkmoot/moot/replay"
)

// A Policy is a policy that rooms can have.
type Policy struct {
	Name        string          `json:"name" doc:"Rooms name it so"`
	Version     string          `json:"version,omitempty"`
	Digest      string          `json:"digest" doc:"SHA-256 of its module: it tells versions apart"`
	Origin      string          `json:"origin" enum:"built in,installed,log,program" doc:"log: the room has it, and its module is in the data folder; program: a policy in Go of the program that runs the rooms"`
	Description string          `json:"description,omitempty"`
	Author      string          `json:"author,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty" doc:"JSON Schema of its settings; without it any are allowed"`
	Defaults    json.RawMessage `json:"defaults,omitempty" doc:"Its settings where a room has none"`
}

// Policies are the policies that rooms can have.
type Policies struct {
	Policies []Policy `json:"policies"`
}

// A PolicyChoice names a policy with its settings.
type PolicyChoice struct {
	Policy   string          `json:"policy" minLength:"1" maxLength:"1024" doc:"Its name"`
	Digest   string          `json:"digest,omitempty" maxLength:"64" doc:"SHA-256 of its module; without it any"`
	Settings json.RawMessage `json:"settings,omitempty" doc:"Its settings, an object; without them its defaults"`
}

// A PreviewUpdate is one line of a preview: how far it is, and at last its result or
// why there is none.
type PreviewUpdate struct {
	Progress *PreviewProgress `json:"progress,omitempty"`
	Preview  *replay.Preview  `json:"preview,omitempty"`
	Problem  *Problem         `json:"problem,omitempty"`
}

// A PreviewProgress is how far a preview is.
type PreviewProgress struct {
	Read   int64 `json:"read" doc:"Events that were read"`
	Events int64 `json:"events" doc:"Events of the room"`
	Made   int   `json:"made,omitempty" doc:"Decisions that were made"`
	Of     int   `json:"of,omitempty" doc:"Decisions to make, once the first is made"`
}
