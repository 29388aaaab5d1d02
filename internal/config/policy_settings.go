package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// formatParticipant is the format of a setting that must be the ID of a
// participant: {"type": "string", "format": "participant"}.
const formatParticipant = "participant"

// compileSettings compiles the settings schema of a policy for a room with the
// participants of w. An empty ID is valid. Without participants any ID is valid.
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
				return &unknownParticipant{id, ids}
			}
			return nil
		},
	})
}

// CheckSettings checks settings against the schema of a policy, without a room:
// any ID of a participant is valid. Empty settings mean an empty object.
func CheckSettings(schema, settings []byte) error {
	c, err := compile("settings.schema.json", schema, nil)
	if err != nil {
		return err
	}
	v := any(map[string]any{})
	if len(settings) > 0 {
		if err := json.Unmarshal(settings, &v); err != nil {
			return fmt.Errorf("reading settings: %w", err)
		}
	}
	err = c.schema.Validate(v)
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return err
	}
	var all []string
	for _, l := range leaves(ve) {
		all = append(all, "/"+strings.Join(l.InstanceLocation, "/")+" "+describeBound(l))
	}
	return errors.New(strings.Join(all, "; "))
}

// checkSettings checks the settings of the policy against its schema.
func (d *document) checkSettings(w wireRoom, o Options) {
	if o.SettingsSchema == nil || d.isBroken("policy", "settings") {
		return
	}
	text, err := o.SettingsSchema(w.Policy.Use)
	if err != nil {
		d.reportUnlessBroken([]string{"policy", "use"}, "ROOM-POLICY", err.Error(), "")
		return
	}
	if len(text) == 0 || string(text) == "null" {
		return
	}
	if d.isBroken("participants") {
		w.Participants = nil
	}
	c, err := compileSettings(text, w)
	if err != nil {
		d.reportUnlessBroken([]string{"policy", "use"}, "ROOM-POLICY", err.Error(), "")
		return
	}
	settings := any(map[string]any{})
	if len(w.Policy.Settings) > 0 {
		if err := json.Unmarshal(w.Policy.Settings, &settings); err != nil {
			return // cannot happen: json.Marshal made it
		}
	}
	checker{d: d, c: c, code: "ROOM-SETTINGS", base: []string{"policy", "settings"}}.check(settings)
}
