package config

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Show returns the room at path with its included files as one YAML text.
// Variables are not expanded, and secrets are masked. With origin, a comment
// gives the position of each top-level key and of each participant. The text is
// nil if the file is not a YAML mapping.
func Show(path string, origin bool) ([]byte, Problems) {
	d := open(path, nil)
	if d.root == nil {
		return nil, d.problems
	}
	d.mask(d.root, 0)
	if origin {
		d.annotate()
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(d.root); err != nil {
		d.report(d.root, nil, "ROOM-YAML", err.Error(), "")
		return nil, d.problems
	}
	return b.Bytes(), d.problems
}

// mask masks the values of keys whose names suggest a secret, unless they are a
// variable.
func (d *document) mask(n *yaml.Node, depth int) {
	if depth > maxDepth {
		return
	}
	for i, c := range n.Content {
		d.mask(c, depth+1)
		if n.Kind != yaml.MappingNode || i%2 == 0 || c.Kind != yaml.ScalarNode {
			continue
		}
		if key := n.Content[i-1].Value; secretName(key) && c.Value != "" && !isVariable(c.Value) {
			c.Value, c.Tag, c.Style = "(hidden)", "!!str", yaml.DoubleQuotedStyle
		}
	}
}

// annotate adds comments with the positions of top-level keys and participants.
func (d *document) annotate() {
	for i := 0; i+1 < len(d.root.Content); i += 2 {
		key, val := d.root.Content[i], d.root.Content[i+1]
		key.HeadComment = d.positionComment(key)
		if key.Value != "participants" || val.Kind != yaml.SequenceNode {
			continue
		}
		for _, seat := range val.Content {
			seat.HeadComment = d.positionComment(seat)
		}
	}
}

func (d *document) positionComment(n *yaml.Node) string {
	return fmt.Sprintf("# %s", d.problem(n, nil, "", "", "").Position)
}
