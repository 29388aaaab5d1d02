// Package builtins lists the policies that come with moot, for the one module
// that holds them all (policies/builtins.wasm) and for tests.
package builtins

import (
	"github.com/folkmoot/moot/policies/mention"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/policies/roundrobin"
)

// All returns the built-in policies, in byte order of their names.
func All() []policy.Named {
	return []policy.Named{
		{Name: "mention", Policy: New("mention")},
		{Name: "roundrobin", Policy: New("roundrobin")},
	}
}

// New returns a fresh built-in policy with its default settings, or nil when
// there is none of that name.
func New(name string) policy.Policy {
	switch name {
	case "mention":
		return mention.New(New)
	case "roundrobin":
		return roundrobin.New()
	}
	return nil
}
