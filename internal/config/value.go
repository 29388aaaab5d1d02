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

// value turns a node into what encoding/json would have made of it, with
// variables expanded. Numbers are json.Number. What cannot be used is
// reported and nil.
func (d *document) value(n *yaml.Node, path []string) any {
	if d.nodes++; d.nodes > maxNodes || len(path) > maxDepth {
		d.overflow(n, path)
		return nil
	}
	switch n.Kind {
	case yaml.AliasNode:
		return d.value(n.Alias, path)
	case yaml.MappingNode:
		return d.mapping(n, path)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for i, c := range n.Content {
			list = append(list, d.value(c, step(path, strconv.Itoa(i))))
		}
		return list
	}
	return d.scalar(n, path)
}

// step returns path with one more part, in memory of its own.
func step(path []string, part string) []string { return append(slices.Clip(path), part) }

// overflow reports a bound once.
func (d *document) overflow(n *yaml.Node, path []string) {
	if d.overflowed {
		return
	}
	d.overflowed = true
	d.broken = append(d.broken, nil) // everything
	what := fmt.Sprintf("more than %d levels deep", maxDepth)
	if d.nodes > maxNodes {
		what, path = fmt.Sprintf("more than %d values", maxNodes), nil
	}
	if len(path) > 1 {
		path = path[:1]
		n, _ = d.find(path)
	}
	d.report(n, path, "ROOM-ALIAS", what, "an anchor that refers to itself, or aliases of aliases, grow without end")
}

func (d *document) mapping(n *yaml.Node, path []string) any {
	m := make(map[string]any, len(n.Content)/2)
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode:
			d.bad(key, path, "ROOM-TYPE", "a key that is "+kindOf(key)+"; keys are words", "")
		case key.ShortTag() == "!!merge":
			d.bad(key, path, "ROOM-KEY", "merge keys are not read", "use include: for what several rooms share")
		case lines[key.Value] > 0:
			d.bad(key, step(path, key.Value), "ROOM-DUPLICATE-KEY", fmt.Sprintf("%q is set twice; the first is on line %d", key.Value, lines[key.Value]), "")
		default:
			lines[key.Value] = key.Line
			m[key.Value] = d.value(val, step(path, key.Value))
		}
	}
	return m
}

// bad reports a problem and says no more about that path.
func (d *document) bad(n *yaml.Node, path []string, code, what, hint string) {
	d.report(n, path, code, what, hint)
	d.broken = append(d.broken, path)
}

func (d *document) scalar(n *yaml.Node, path []string) any {
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
		d.bad(n, path, "ROOM-VALUE", n.Value+" is not a number that can be used", "")
		return nil
	case "!!str", "!!timestamp":
		return d.text(n, path)
	}
	d.bad(n, path, "ROOM-TYPE", "tag "+n.Tag+" is not read", "write a plain value")
	return nil
}

// number returns the decimal form of what may be hexadecimal or 1_000 in YAML.
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

// text expands the variables of a string. A secret may go to an agent's
// process, whose endpoint is logged as it was written; anywhere else its
// value would be in the log and in prompts.
func (d *document) text(n *yaml.Node, path []string) any {
	if d.verbatim {
		return n.Value
	}
	for _, name := range variables(n.Value) {
		if secretName(name) && !slices.Contains(path, "endpoint") {
			d.bad(n, path, "ROOM-SECRET", name+" would be written to the room's log", "hand it to the agent: endpoint: {env: {"+name+": \"${"+name+"}\"}}")
			return nil
		}
	}
	s, err := expand(n.Value, d.lookup)
	var ve *variableError
	if errors.As(err, &ve) {
		d.bad(n, path, "ROOM-VARIABLE", ve.what, ve.hint)
		return nil
	}
	return s
}
