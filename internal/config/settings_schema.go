package config

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// formatParticipant is what a policy's schema calls a setting that must name
// a participant: {"type": "string", "format": "participant"}.
const formatParticipant = "participant"

// An unknownID is a setting that names nobody.
type unknownID struct {
	id  string
	ids []string
}

func (e *unknownID) Error() string { return strconv.Quote(e.id) + " is not the id of a participant" }

// compileSettings compiles a policy's own schema for a room with that roster.
// An empty id names nobody on purpose. A nil roster is not known.
func compileSettings(text []byte, w wireRoom) (compiled, error) {
	var ids []string
	for _, s := range w.Participants {
		if s != nil {
			ids = append(ids, s.ID)
		}
	}
	return compile("settings.schema.json", text, &jsonschema.Format{
		Name: formatParticipant,
		Validate: func(v any) error {
			if id, ok := v.(string); ok && id != "" && ids != nil && !slices.Contains(ids, id) {
				return &unknownID{id, ids}
			}
			return nil
		},
	})
}

// format reports a text that is not of the format asked for.
func (k checker) format(path []string, x *kind.Format) {
	if u, ok := x.Err.(*unknownID); ok {
		k.say(path, nil, "ROOM-UNKNOWN-ID", u.Error(), suggest(u.id, u.ids))
		return
	}
	n, _ := k.d.find(path)
	k.say(path, nil, "ROOM-VALUE", fmt.Sprintf("%s is not a valid %s", describe(n), x.Want), "")
}
