// Package builtins lists the policies that come with moot, for the one module
// that holds them all (policies/builtins.wasm.gz) and for tests.
package builtins

import (
	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/alternate"
	"github.com/folkmoot/moot/policies/habit"
	"github.com/folkmoot/moot/policies/humanfirst"
	"github.com/folkmoot/moot/policies/inbox"
	"github.com/folkmoot/moot/policies/mention"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/policies/quiet"
	"github.com/folkmoot/moot/policies/roundrobin"
	"github.com/folkmoot/moot/policies/wasteguard"
)

var names = []string{"adaptive", "alternate", "habit", "humanfirst", "inbox", "mention", "quiet", "roundrobin", "wasteguard"}

// All returns the built-in policies with their default settings, in byte
// order of their names.
func All() []policy.Named {
	all := make([]policy.Named, len(names))
	for i, name := range names {
		all[i] = policy.Named{Name: name, Policy: New(name)}
	}
	return all
}

// New returns a new instance of the built-in policy with the given name, or nil.
// It must be configured before its first decision.
func New(name string) policy.Policy {
	switch name {
	case "adaptive":
		return adaptive.New()
	case "alternate":
		return alternate.New()
	case "habit":
		return habit.New()
	case "humanfirst":
		return humanfirst.New(New)
	case "inbox":
		return inbox.New(New)
	case "mention":
		return mention.New(New)
	case "quiet":
		return quiet.New()
	case "roundrobin":
		return roundrobin.New()
	case "wasteguard":
		return wasteguard.New(New)
	}
	return nil
}
