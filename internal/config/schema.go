package config

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
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

// check returns the first violations of v.
func (c compiled) check(v any) []violation {
	var ve *jsonschema.ValidationError
	if !errors.As(c.schema.Validate(v), &ve) {
		return nil
	}
	var all []violation
	c.collect(ve, &all)
	// The library visits the keys of an object in any order.
	slices.SortStableFunc(all, func(a, b violation) int { return slices.Compare(a.Path, b.Path) })
	return all
}

// maxViolations bounds how many violations are reported.
const maxViolations = 100

// collect appends what the errors without causes say.
func (c compiled) collect(e *jsonschema.ValidationError, all *[]violation) {
	if len(*all) == maxViolations {
		return
	}
	if g, ok := e.ErrorKind.(*kind.OneOf); ok {
		*all = append(*all, oneOf(e, g))
		return
	}
	if _, ok := e.ErrorKind.(*kind.AnyOf); ok && len(missingKeys(e)) == len(leaves(e)) {
		*all = append(*all, violation{Path: e.InstanceLocation, Rule: ruleMissing, Text: "needs " + strings.Join(missingKeys(e), " or ")})
		return
	}
	for _, cause := range e.Causes {
		c.collect(cause, all)
	}
	if len(e.Causes) == 0 && len(*all) < maxViolations {
		*all = append(*all, c.violation(e))
	}
}

// oneOf describes keys of which exactly one is required.
func oneOf(e *jsonschema.ValidationError, g *kind.OneOf) violation {
	if len(g.Subschemas) > 0 {
		return violation{Path: e.InstanceLocation, Rule: ruleMissing, Text: "has keys that exclude each other; keep one"}
	}
	return violation{Path: e.InstanceLocation, Rule: ruleMissing, Text: "needs " + strings.Join(missingKeys(e), " or ")}
}

// missingKeys returns the keys that the alternatives of e require.
func missingKeys(e *jsonschema.ValidationError) (keys []string) {
	for _, l := range leaves(e) {
		if r, ok := l.ErrorKind.(*kind.Required); ok {
			keys = append(keys, r.Missing...)
		}
	}
	return keys
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

// maxValues bounds how many keys or allowed values one violation names.
const maxValues = 100

// violation describes an error without causes.
func (c compiled) violation(e *jsonschema.ValidationError) violation {
	v := violation{Path: e.InstanceLocation}
	part := c.lookup(e.SchemaURL)
	want, _ := part["x-want"].(string)
	switch x := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		slices.Sort(x.Properties) // the library has them in any order
		v.Rule, v.Values = ruleKeys, x.Properties[:min(len(x.Properties), maxValues)]
		v.Text, _ = part["x-keys"].(string)
		props, _ := part["properties"].(map[string]any)
		v.Known = slices.Sorted(maps.Keys(props))
	case *kind.Required:
		v.Rule, v.Text = ruleMissing, "missing "+strings.Join(x.Missing, ", ")
	case *kind.Type:
		v.Rule, v.Text = ruleType, cmp.Or(want, strings.Join(typeNames(x.Want), " or "))
	case *kind.Enum:
		v.Rule, v.Values = ruleChoice, formatValues(x.Want[:min(len(x.Want), maxValues)])
	case *kind.Const:
		v.Rule, v.Values = ruleChoice, formatValues([]any{x.Want})
	case *kind.Pattern:
		v.Rule, v.Text = ruleForm, cmp.Or(want, "of the form "+x.Want)
	case *kind.Format:
		v.Rule, v.Text = ruleForm, "a valid "+x.Want
		if u, ok := x.Err.(*unknownParticipant); ok {
			v.Rule, v.Text, v.Values = ruleParticipant, u.id, u.ids
		}
	default:
		v.Rule, v.Text = ruleBound, describeBound(e)
	}
	return v
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

// An unknownParticipant reports a setting that is not the ID of a participant.
type unknownParticipant struct {
	id  string
	ids []string
}

func (e *unknownParticipant) Error() string {
	return strconv.Quote(e.id) + " is not the ID of a participant"
}
