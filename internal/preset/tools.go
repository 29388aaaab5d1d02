package preset

import (
	"encoding/json"
	"slices"

	"github.com/folkmoot/moot/endpoints/acp"
)

// NotEnforcedAt is NotEnforced for an endpoint as room.yaml has it. One that is no object
// has no tools.
func NotEnforcedAt(at []byte, withheld []string) (tools []string, why string) {
	var e struct{ Kind, Agent string }
	if len(withheld) == 0 || json.Unmarshal(at, &e) != nil {
		return nil, ""
	}
	return NotEnforced(e.Kind, e.Agent, withheld)
}

// NotEnforced returns which of the tools that a seat may not use its agent can use all
// the same, and why. kind is that of its endpoint, and name that of its preset or "".
// The room refuses what an agent asks for. An agent that does not ask is not stopped.
func NotEnforced(kind, name string, withheld []string) (tools []string, why string) {
	switch kind {
	case "openai", "scripted": // they have no tools
		return nil, ""
	case "acp":
		p, ok := acp.PresetOf(name)
		if !ok {
			return withheld, "its own permissions are unknown"
		}
		tools = slices.DeleteFunc(slices.Clone(withheld), func(tool string) bool { return !slices.Contains(p.Free, tool) })
		if len(tools) == 0 {
			return nil, ""
		}
		return tools, name + " does not ask before"
	}
	return withheld, "it asks only for what it chooses to ask"
}
