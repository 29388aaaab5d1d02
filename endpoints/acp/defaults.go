package acp

import (
	"os"
	"slices"
	"strings"
)

// withDefaultSettings writes the default settings of the preset to a file and names
// the file in the environment. The owner's own settings prevail over them. An owner
// who sets the variable has other default settings, and nothing is written. Without
// the file, as on a full disk, the agent works too and only asks its model more
// often. The caller removes the file when the agent has ended.
func (c Config) withDefaultSettings() (with Config, remove func()) {
	p := c.Preset
	_, set := os.LookupEnv(p.DefaultsVar)
	if p.DefaultsVar == "" || set || slices.ContainsFunc(c.Env, func(kv string) bool { return strings.HasPrefix(kv, p.DefaultsVar+"=") }) {
		return c, func() {}
	}
	f, err := os.CreateTemp("", "moot-"+p.Name+"-*.json") // a name that others cannot foresee, and only this user may write
	if err != nil {
		return c, func() {}
	}
	remove = func() { _ = os.Remove(f.Name()) }
	_, err = f.WriteString(p.Defaults)
	if closed := f.Close(); err != nil || closed != nil {
		remove()
		return c, func() {}
	}
	c.Env = append(slices.Clone(c.Env), p.DefaultsVar+"="+f.Name())
	return c, remove
}
