package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// An oldKey is a key that was spelled otherwise in earlier releases. It still
// works, with a warning.
type oldKey struct {
	path     []string // of its mapping; "*" stands for every item of a list
	old, now string
}

// oldKeys returns the earlier spellings: all keys of room.yaml are in camelCase
// now.
func oldKeys() []oldKey {
	seat := []string{"participants", "*"}
	review := append(seat[:2:2], "review")
	return []oldKey{
		{nil, "one_to_one", "oneToOne"},
		{seat, "max_tokens", "maxTokens"},
		{seat, "allow_tool_use", "allowToolUse"},
		{review, "confidence_below", "confidenceBelow"},
		{review, "longer_than", "longerThan"},
		{review, "first_contact", "firstContact"},
	}
}

// noteKeys returns the spellings of the note about calls of agents.
func noteKeys() (keys []oldKey) {
	for _, list := range []string{"participants", "agents"} {
		seat := []string{list, "*"}
		keys = append(keys, oldKey{seat, "allow_sub_agent_calls", "calls"}, oldKey{seat, "max_sub_agent_depth", "maxSubAgentDepth"})
	}
	return keys
}

// renameKeys gives keys in an old spelling the one that the schema has, and
// warns of each.
func (d *document) renameKeys() {
	for _, k := range append(oldKeys(), noteKeys()...) {
		d.renameIn(d.root, nil, k.path, k)
	}
}

// renameIn renames k in all mappings at rest below n, the node at path.
func (d *document) renameIn(n *yaml.Node, path, rest []string, k oldKey) {
	n = follow(n)
	switch {
	case n == nil:
	case len(rest) > 0 && rest[0] == "*" && n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			d.renameIn(item, appendStep(path, fmt.Sprint(i)), rest[1:], k)
		}
	case len(rest) > 0:
		if val, _ := child(n, rest[0]); n.Kind == yaml.MappingNode {
			d.renameIn(val, appendStep(path, rest[0]), rest[1:], k)
		}
	case n.Kind == yaml.MappingNode:
		if val, key := child(n, k.old); key != nil {
			d.warn(key, appendStep(path, k.old), "ROOM-RENAMED", fmt.Sprintf("%q is an old spelling", k.old), "write "+k.now)
			key.Value = k.now
			if val = follow(val); k.now == "calls" && val.Tag == "!!bool" {
				val.Tag, val.Value = "!!str", map[bool]string{true: "allow", false: "deny"}[val.Value == "true"]
			}
		}
	}
}
