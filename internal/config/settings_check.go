package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// CheckSettings checks settings against a policy's own schema outside a room,
// so that a participant's id may be any. Empty settings are an empty object.
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
		all = append(all, "/"+strings.Join(l.InstanceLocation, "/")+" "+bound(l))
	}
	return errors.New(strings.Join(all, "; "))
}
