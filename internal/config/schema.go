package config

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"go.yaml.in/yaml/v3"
)

//go:embed room.schema.json
var roomSchema []byte

// Schema returns the JSON Schema of room.yaml.
func Schema() []byte { return slices.Clone(roomSchema) }

// A compiled schema with its source, which has the texts of hints.
type compiled struct {
	schema *jsonschema.Schema
	doc    any
}

var schema = sync.OnceValues(func() (compiled, error) { return compile("room.schema.json", roomSchema, nil) })

// compile compiles a schema. It checks formats only if f is not nil.
func compile(name string, text []byte, f *jsonschema.Format) (compiled, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return compiled{}, fmt.Errorf("reading schema %s: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if f != nil {
		c.RegisterFormat(f)
		c.AssertFormat()
	}
	if err := c.AddResource(name, doc); err != nil {
		return compiled{}, fmt.Errorf("adding schema %s: %w", name, err)
	}
	s, err := c.Compile(name)
	if err != nil {
		return compiled{}, fmt.Errorf("compiling schema %s: %w", name, err)
	}
	return compiled{s, doc}, nil
}

// noLoader prevents schemas of policies from loading files or URLs.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("schema refers to %s; it may refer only to its own parts", url)
}

// A checker converts validation errors of a schema to problems.
type checker struct {
	d    *document
	c    compiled
	code string   // replaces all codes, for settings of a policy
	base []string // path of the checked value
}

// check validates v, the value at base.
func (k checker) check(v any) {
	err := k.c.schema.Validate(v)
	var ve *jsonschema.ValidationError
	if errors.As(err, &ve) {
		k.reportTree(ve)
	}
}

func (k checker) reportTree(e *jsonschema.ValidationError) {
	path := append(slices.Clone(k.base), e.InstanceLocation...)
	if g, ok := e.ErrorKind.(*kind.OneOf); ok {
		k.reportOneOf(e, g, path)
		return
	}
	for _, c := range e.Causes {
		k.reportTree(c)
	}
	if len(e.Causes) == 0 {
		k.reportLeaf(e, path)
	}
}

// reportOneOf reports keys of which exactly one is required.
func (k checker) reportOneOf(e *jsonschema.ValidationError, g *kind.OneOf, path []string) {
	var keys []string
	for _, c := range e.Causes {
		for _, l := range leaves(c) {
			if r, ok := l.ErrorKind.(*kind.Required); ok {
				keys = append(keys, r.Missing...)
			}
		}
	}
	what := "needs " + strings.Join(keys, " or ")
	if len(g.Subschemas) > 0 {
		what = "has keys that exclude each other; keep one"
	}
	k.reportOnce(path, nil, "ROOM-MISSING", what, "")
}

func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var out []*jsonschema.ValidationError
	for _, c := range e.Causes {
		out = append(out, leaves(c)...)
	}
	return out
}

// reportLeaf reports one error without causes.
func (k checker) reportLeaf(e *jsonschema.ValidationError, path []string) {
	node, _ := k.d.find(path)
	got := kindOf(follow(node))
	switch x := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range x.Properties {
			p := appendStep(path, name)
			_, key := k.d.find(p)
			if want, ok := k.c.lookup(e.SchemaURL)["x-keys"].(string); ok {
				k.reportOnce(p, key, "ROOM-KEY", strconv.Quote(name)+" is not "+want, "")
				continue
			}
			k.reportOnce(p, key, "ROOM-KEY", fmt.Sprintf("unknown key %q", name), hintKey(name, k.properties(e, path)))
		}
	case *kind.Required:
		k.reportOnce(path, nil, "ROOM-MISSING", "missing "+strings.Join(x.Missing, ", "), "")
	case *kind.Type:
		k.reportOnce(path, nil, "ROOM-TYPE", "got "+got+", want "+k.want(e, strings.Join(typeNames(x.Want), " or ")), "")
	case *kind.Enum:
		k.reportChoice(path, node, got, formatValues(x.Want))
	case *kind.Const:
		k.reportChoice(path, node, got, formatValues([]any{x.Want}))
	case *kind.Pattern:
		k.reportOnce(path, nil, "ROOM-VALUE", got+" is not "+k.want(e, "of the form "+x.Want), "")
	case *kind.Format:
		k.reportFormat(path, x)
	default:
		k.reportOnce(path, nil, "ROOM-VALUE", describeBound(e), "")
	}
}

// reportChoice reports a value that is not one of the allowed ones.
func (k checker) reportChoice(path []string, n *yaml.Node, got string, allowed []string) {
	n = follow(n)
	what := got + " is not one of " + strings.Join(allowed, ", ")
	if len(allowed) == 1 {
		what = "got " + got + ", want " + allowed[0]
	}
	hint := ""
	if n != nil && n.Kind == yaml.ScalarNode {
		hint = suggest(n.Value, allowed)
	}
	k.reportOnce(path, nil, "ROOM-VALUE", what, hint)
}

// reportOnce reports a problem unless its path, or one above it, has one.
func (k checker) reportOnce(path []string, at *yaml.Node, code, what, hint string) {
	for _, b := range k.d.broken {
		if len(b) <= len(path) && slices.Equal(b, path[:len(b)]) {
			return
		}
	}
	if at == nil {
		at, _ = k.d.find(path)
	}
	if k.code != "" && code != "ROOM-UNKNOWN-ID" {
		code = k.code
	}
	k.d.report(at, path, code, what, hint)
	if code == "ROOM-MISSING" {
		path = appendStep(path, "?") // the existing keys are still checked
	}
	k.d.broken = append(k.d.broken, path)
}

// describeBound describes a number, a length or a count out of bounds.
func describeBound(e *jsonschema.ValidationError) string {
	switch x := e.ErrorKind.(type) {
	case *kind.Minimum:
		return "must be at least " + x.Want.RatString()
	case *kind.Maximum:
		return "must be at most " + x.Want.RatString()
	case *kind.ExclusiveMinimum:
		return "must be more than " + x.Want.RatString()
	case *kind.ExclusiveMaximum:
		return "must be less than " + x.Want.RatString()
	case *kind.MinLength:
		if x.Want == 1 {
			return "is empty"
		}
		return fmt.Sprintf("must have at least %d characters", x.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("has %d characters, at most %d", x.Got, x.Want)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d", x.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("has %d, at most %d", x.Got, x.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("has %d, at most %d", x.Got, x.Want)
	}
	return "is not allowed here"
}

// lookup returns the part of the schema at the fragment of a URL.
func (c compiled) lookup(url string) map[string]any {
	_, frag, _ := strings.Cut(url, "#")
	cur := c.doc
	for part := range strings.SplitSeq(strings.Trim(frag, "/"), "/") {
		if part == "" {
			continue
		}
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch t := cur.(type) {
		case map[string]any:
			cur = t[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(t) {
				return nil
			}
			cur = t[i]
		}
	}
	m, _ := cur.(map[string]any)
	return m
}

// want returns the x-want text of the schema, which describes the expected
// value, or else otherwise.
func (k checker) want(e *jsonschema.ValidationError, otherwise string) string {
	if w, ok := k.c.lookup(e.SchemaURL)["x-want"].(string); ok {
		return w
	}
	return otherwise
}

// properties returns the allowed keys that are not used yet.
func (k checker) properties(e *jsonschema.ValidationError, path []string) []string {
	props, _ := k.c.lookup(e.SchemaURL)["properties"].(map[string]any)
	n, _ := k.d.find(path)
	var names []string
	for name := range props {
		if v, _ := child(n, name); v == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// An unknownParticipant reports a setting that is not the ID of a participant.
type unknownParticipant struct {
	id  string
	ids []string
}

func (e *unknownParticipant) Error() string {
	return strconv.Quote(e.id) + " is not the ID of a participant"
}

// reportFormat reports a text that does not have the required format.
func (k checker) reportFormat(path []string, x *kind.Format) {
	if u, ok := x.Err.(*unknownParticipant); ok {
		k.reportOnce(path, nil, "ROOM-UNKNOWN-ID", u.Error(), suggest(u.id, u.ids))
		return
	}
	n, _ := k.d.find(path)
	k.reportOnce(path, nil, "ROOM-VALUE", fmt.Sprintf("%s is not a valid %s", kindOf(follow(n)), x.Want), "")
}
