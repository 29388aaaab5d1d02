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

// A compiled schema keeps its source beside it: the hints come from there.
type compiled struct {
	schema *jsonschema.Schema
	doc    any
}

var schema = sync.OnceValues(func() (compiled, error) { return compile("room.schema.json", roomSchema, nil) })

// compile reads a schema. Formats are checked only where one is given.
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

// noLoader keeps schemas of others from reading files or the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("schema refers to %s; only its own parts may be referred to", url)
}

// A checker turns the errors of a schema into problems with places.
type checker struct {
	d    *document
	c    compiled
	code string   // replaces every code, for settings of a policy
	base []string // path of the value that is checked
}

// check validates v, the value at base.
func (k checker) check(v any) {
	err := k.c.schema.Validate(v)
	var ve *jsonschema.ValidationError
	if errors.As(err, &ve) {
		k.walk(ve)
	}
}

func (k checker) walk(e *jsonschema.ValidationError) {
	path := append(slices.Clone(k.base), e.InstanceLocation...)
	if g, ok := e.ErrorKind.(*kind.OneOf); ok {
		k.oneOf(e, g, path)
		return
	}
	for _, c := range e.Causes {
		k.walk(c)
	}
	if len(e.Causes) == 0 {
		k.report(e, path)
	}
}

// oneOf is used for keys of which exactly one must be there.
func (k checker) oneOf(e *jsonschema.ValidationError, g *kind.OneOf, path []string) {
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
		what = "has two of what excludes each other; keep one"
	}
	k.say(path, nil, "ROOM-MISSING", what, "")
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

// report says what one leaf means.
func (k checker) report(e *jsonschema.ValidationError, path []string) {
	node, _ := k.d.find(path)
	got := describe(node)
	switch x := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range x.Properties {
			p := step(path, name)
			_, key := k.d.find(p)
			if want, ok := k.c.lookup(e.SchemaURL)["x-keys"].(string); ok {
				k.say(p, key, "ROOM-KEY", strconv.Quote(name)+" is not "+want, "")
				continue
			}
			k.say(p, key, "ROOM-KEY", fmt.Sprintf("unknown key %q", name), hintKey(name, k.properties(e, path)))
		}
	case *kind.Required:
		k.say(path, nil, "ROOM-MISSING", "missing "+strings.Join(x.Missing, ", "), "")
	case *kind.Type:
		k.say(path, nil, "ROOM-TYPE", "got "+got+", want "+k.want(e, strings.Join(typeNames(x.Want), " or ")), "")
	case *kind.Enum:
		k.choice(path, node, got, words(x.Want))
	case *kind.Const:
		k.choice(path, node, got, words([]any{x.Want}))
	case *kind.Pattern:
		k.say(path, nil, "ROOM-VALUE", got+" is not "+k.want(e, "of the form "+x.Want), "")
	case *kind.Format:
		k.format(path, x)
	default:
		k.say(path, nil, "ROOM-VALUE", bound(e), "")
	}
}

// choice reports a word that is none of those allowed.
func (k checker) choice(path []string, n *yaml.Node, got string, allowed []string) {
	n = follow(n)
	what := got + " is not one of " + strings.Join(allowed, ", ")
	if len(allowed) == 1 {
		what = "got " + got + ", want " + allowed[0]
	}
	hint := ""
	if n != nil && n.Kind == yaml.ScalarNode {
		hint = suggest(n.Value, allowed)
	}
	k.say(path, nil, "ROOM-VALUE", what, hint)
}

// say reports once for each path.
func (k checker) say(path []string, at *yaml.Node, code, what, hint string) {
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
		path = step(path, "?") // what is there may still be checked
	}
	k.d.broken = append(k.d.broken, path)
}

func describe(n *yaml.Node) string {
	if n = follow(n); n == nil {
		return "nothing"
	}
	return kindOf(n)
}

// bound describes a number, a length or a count that is out of bounds.
func bound(e *jsonschema.ValidationError) string {
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
