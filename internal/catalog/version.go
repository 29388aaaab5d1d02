package catalog

import "runtime/debug"

// modulePath is where a program that embeds rooms gets this module from.
const modulePath = "github.com/folkmoot/moot"

// Version returns the version of this module in the running program, as
// "v1.2.3", or "(devel)" when it has none.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	if info.Main.Path != modulePath {
		for _, dep := range info.Deps {
			if dep.Path == modulePath {
				return dep.Version
			}
		}
	}
	if info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
