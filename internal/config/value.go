package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// convert converts a node to the types of encoding/json, with variables
// expanded. Numbers are json.Number. A value that cannot be converted is
// reported, and nil.
func (d *document) convert(n *yaml.Node, path []string) any {
	if d.nodes++; d.nodes > maxNodes || len(path) > maxDepth {
		d.reportOverflow(n, path)
		return nil
	}
	switch n.Kind {
	case yaml.AliasNode:
		return d.convert(n.Alias, path)
	case yaml.MappingNode:
		return d.convertMapping(n, path)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for i, c := range n.Content {
			list = append(list, d.convert(c, appendStep(path, strconv.Itoa(i))))
		}
		return list
	}
	return d.convertScalar(n, path)
}

// appendStep returns a copy of path with one more part.
func appendStep(path []string, part string) []string { return append(slices.Clip(path), part) }

// reportOverflow reports, once, that the document is too large or too deep.
func (d *document) reportOverflow(n *yaml.Node, path []string) {
	if d.overflowed {
		return
	}
	d.overflowed = true
	d.broken = append(d.broken, nil) // the whole document
	what := fmt.Sprintf("more than %d levels deep", maxDepth)
	if d.nodes > maxNodes {
		what, path = fmt.Sprintf("more than %d values", maxNodes), nil
	}
	if len(path) > 1 {
		path = path[:1]
		n, _ = d.find(path)
	}
	d.report(n, path, "ROOM-ALIAS", what, "check for anchors that contain themselves and for aliases of aliases")
}

func (d *document) convertMapping(n *yaml.Node, path []string) any {
	m := make(map[string]any, len(n.Content)/2)
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode:
			d.reject(key, path, "ROOM-TYPE", "a key is "+kindOf(key)+", want a word", "")
		case key.ShortTag() == "!!merge":
			d.reject(key, path, "ROOM-KEY", "merge keys are not supported", "use include: for parts that several rooms share")
		case lines[key.Value] > 0:
			d.reject(key, appendStep(path, key.Value), "ROOM-DUPLICATE-KEY", fmt.Sprintf("%q is set twice; the first is on line %d", key.Value, lines[key.Value]), "")
		default:
			lines[key.Value] = key.Line
			m[key.Value] = d.convert(val, appendStep(path, key.Value))
		}
	}
	return m
}

// reject reports a problem and suppresses further problems at that path.
func (d *document) reject(n *yaml.Node, path []string, code, what, hint string) {
	d.report(n, path, code, what, hint)
	d.broken = append(d.broken, path)
}

func (d *document) convertScalar(n *yaml.Node, path []string) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int", "!!float":
		if num, ok := number(n); ok {
			return num
		}
		d.reject(n, path, "ROOM-VALUE", n.Value+" is not a supported number", "")
		return nil
	case "!!str", "!!timestamp":
		return d.convertText(n, path)
	}
	d.reject(n, path, "ROOM-TYPE", "tag "+n.Tag+" is not supported", "write a plain value")
	return nil
}

// number returns the decimal form of a YAML number such as 0x10 or 1_000.
func number(n *yaml.Node) (json.Number, bool) {
	var i int64
	if n.ShortTag() == "!!int" && n.Decode(&i) == nil {
		return json.Number(strconv.FormatInt(i, 10)), true
	}
	var f float64
	if n.Decode(&f) != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return "", false
	}
	return json.Number(strconv.FormatFloat(f, 'f', -1, 64)), true
}

// convertText expands the variables of a string. Secrets are allowed in
// endpoints only, which are logged as written. In other places their values
// would be part of the log and of prompts.
func (d *document) convertText(n *yaml.Node, path []string) any {
	if d.verbatim {
		return n.Value
	}
	for _, name := range variables(n.Value) {
		if secretName(name) && !slices.Contains(path, "endpoint") {
			d.reject(n, path, "ROOM-SECRET", name+" would be written to the log of the room", "pass it to the agent: endpoint: {env: {"+name+": \"${"+name+"}\"}}")
			return nil
		}
	}
	s, err := expand(n.Value, d.lookup)
	var ve *variableError
	if errors.As(err, &ve) {
		d.reject(n, path, "ROOM-VARIABLE", ve.what, ve.hint)
		return nil
	}
	return s
}
