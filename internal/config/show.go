package config

import (
	"bytes"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
)

// Show returns the room at path with what it includes as one YAML text:
// variables unexpanded, secrets that are written down masked. With origin
// each top-level key and each participant says where it was written. The text
// is nil when the file is no YAML mapping.
func Show(path string, origin bool) ([]byte, Problems) {
	d := open(path, os.LookupEnv)
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

// mask hides the values of keys whose names say that they are secret, unless
// they only refer to a variable.
func (d *document) mask(n *yaml.Node, depth int) {
	if depth > maxDepth {
		return
	}
	for i, c := range n.Content {
		d.mask(c, depth+1)
		if n.Kind != yaml.MappingNode || i%2 == 0 || c.Kind != yaml.ScalarNode {
			continue
		}
		if key := n.Content[i-1].Value; secretName(key) && c.Value != "" && len(variables(c.Value)) == 0 {
			c.Value, c.Tag, c.Style = "(hidden)", "!!str", yaml.DoubleQuotedStyle
		}
	}
}

// annotate comments each top-level key and each participant with its place.
func (d *document) annotate() {
	for i := 0; i+1 < len(d.root.Content); i += 2 {
		key, val := d.root.Content[i], d.root.Content[i+1]
		key.HeadComment = d.comment(key)
		if key.Value != "participants" || val.Kind != yaml.SequenceNode {
			continue
		}
		for _, seat := range val.Content {
			seat.HeadComment = d.comment(seat)
		}
	}
}

func (d *document) comment(n *yaml.Node) string {
	return fmt.Sprintf("# %s", d.problem(n, nil, "", "", "").Position)
}
