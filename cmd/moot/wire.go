package main

import (
	"encoding/json"
	"fmt"

	"github.com/folkmoot/moot/endpoints/scripted"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/policies"
)

// Here, and only here, the concrete types are put together.

// roomOptions says how room.yaml is checked on this machine.
func roomOptions(headless bool) config.Options {
	return config.Options{
		Headless: headless, Policies: policies.Names(), SettingsSchema: settingsSchema, CheckScript: checkScript,
	}
}

// checkScript checks a file of a scripted agent.
func checkScript(name string, text []byte) error {
	_, err := scripted.Parse(name, text)
	return err
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
