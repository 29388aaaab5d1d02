package main

import (
	"encoding/json"
	"fmt"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/policies"
)

// Here, and only here, the concrete types are put together.

// roomOptions says how room.yaml is checked on this machine.
func roomOptions(headless bool) config.Options {
	return config.Options{Headless: headless, Policies: policies.Names(), SettingsSchema: settingsSchema}
}

// settingsSchema returns the JSON Schema of a built-in policy's settings.
func settingsSchema(use string) ([]byte, error) {
	if !policies.Has(use) {
		return nil, nil
	}
	b, err := json.Marshal(policies.Manifest(use).ConfigSchema)
	if err != nil {
		return nil, fmt.Errorf("reading the settings of %s: %w", use, err)
	}
	return b, nil
}
