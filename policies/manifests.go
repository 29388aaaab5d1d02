package policies

import (
	"embed"
	"encoding/json"

	"github.com/folkmoot/moot/policies/policy"
)

// names are the names of the built-in policies in byte order. A test compares
// the list with the sources of the module and with the manifests.
var names = []string{"adaptive", "alternate", "habit", "humanfirst", "inbox", "mention", "quiet", "roundrobin", "wasteguard"}

//go:embed */policy.json
var manifests embed.FS

// read parses the manifest of a built-in policy. The manifests are embedded and
// tested, so it panics on an error.
func read(name string) policy.Manifest {
	b, err := manifests.ReadFile(name + "/policy.json")
	if err != nil {
		panic("policies: " + err.Error())
	}
	var m struct {
		policy.Manifest
		Schema  policy.JSON `json:"config_schema"`
		Default policy.JSON `json:"default_config"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		panic("policies: reading the manifest of " + name + ": " + err.Error())
	}
	m.ConfigSchema, m.DefaultConfig = m.Schema, m.Default
	return m.Manifest
}
