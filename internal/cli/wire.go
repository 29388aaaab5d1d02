package cli

import (
	"path/filepath"

	"github.com/folkmoot/moot/endpoints/scripted"
	"github.com/folkmoot/moot/internal/config"
)

// Here, and only here, the concrete types are put together.

// roomOptions says how room.yaml is checked on this machine.
func (a *app) roomOptions(file string, headless bool) config.Options {
	dir := filepath.Dir(file)
	return config.Options{
		Headless: headless, Policies: policyNames(dir), SettingsSchema: a.settingsSchema(dir), CheckScript: checkScript,
		Device: a.findDevice, Observer: a.findObserver,
	}
}

// checkScript checks a file of a scripted agent.
func checkScript(name string, text []byte) error {
	_, err := scripted.Parse(name, text)
	return err
}
