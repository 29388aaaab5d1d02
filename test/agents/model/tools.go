package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A toolDef is a tool of a request in any dialect, or a list of tools.
type toolDef struct {
	Name       string
	Parameters json.RawMessage
	Function   *toolDef        // chat completions and Ollama
	Input      json.RawMessage `json:"input_schema"`         // messages
	JSONSchema json.RawMessage `json:"parametersJsonSchema"` // Gemini, instead of Parameters

	Tools                []toolDef // of a namespace, in the responses API
	FunctionDeclarations []toolDef // Gemini
}

// checkTools refuses tools whose names or schemas the vendor's API refuses, as far as
// its documentation or its errors say so. A tool without a schema is not checked.
func checkTools(dialect string, body []byte) error {
	var q struct{ Tools []toolDef }
	if err := json.Unmarshal(body, &q); err != nil {
		return nil // the dialect has read the request
	}
	var check func(l []toolDef) error
	check = func(l []toolDef) error {
		for _, t := range l {
			if t.Function != nil {
				t = *t.Function
			}
			if err := errors.Join(check(t.Tools), check(t.FunctionDeclarations), t.check(dialect)); err != nil {
				return err
			}
		}
		return nil
	}
	return check(q.Tools)
}

func (t toolDef) check(dialect string) error {
	r := rules[dialect]
	raw := t.Parameters
	switch {
	case t.Input != nil:
		raw = t.Input
	case t.JSONSchema != nil && raw != nil:
		return fmt.Errorf("tool %s: parameters and parametersJsonSchema exclude each other", t.Name)
	case t.JSONSchema != nil:
		raw, r.openAPI, r.oneType, r.items = t.JSONSchema, false, false, false
	}
	if raw == nil {
		return nil
	}
	if !r.name.MatchString(t.Name) {
		return fmt.Errorf("%q is no name of a tool", t.Name)
	}
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		return fmt.Errorf("tool %s: the schema is not an object: %w", t.Name, err)
	}
	err := r.checkRoot(root)
	if err == nil {
		err = r.checkSchema("", root)
	}
	if err != nil {
		return fmt.Errorf("invalid schema for tool %s: %w", t.Name, err)
	}
	return nil
}

// A ruleSet says which schemas of tools an API takes.
type ruleSet struct {
	name       *regexp.Regexp
	noUnion    bool           // none of oneOf, anyOf and allOf at the root
	properties bool           // the root has the key properties, even if it is empty
	items      bool           // an array says what its items are
	oneType    bool           // a type is one name, and no list
	openAPI    bool           // only the keys of Gemini's subset of OpenAPI 3.0
	key        *regexp.Regexp // of properties; nil is any
}

var rules = map[string]ruleSet{
	"chat":      {name: shortName, noUnion: true, properties: true, items: true},
	"responses": {name: shortName, noUnion: true, properties: true, items: true},
	"messages":  {name: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`), noUnion: true, key: regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)},
	"gemini":    {name: regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`), items: true, oneType: true, openAPI: true},
	"ollama":    {name: shortName, oneType: true}, // before 0.6.6 a list of types was an error
}

var shortName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// openAPIKeys are the keys of a Schema in the Gemini API.
var openAPIKeys = strings.Fields("type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum")

// typeNames are those of JSON Schema. The Gemini API writes them in capitals too.
var typeNames = strings.Fields("object array string number integer boolean null")

func (r ruleSet) checkRoot(s map[string]any) error {
	if t, _ := s["type"].(string); t != "object" && (!r.openAPI || t != "OBJECT") {
		return fmt.Errorf(`schema must have the type "object", got %v`, s["type"])
	}
	if r.properties && s["properties"] == nil {
		return errors.New("object schema missing properties")
	}
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		if r.noUnion && s[key] != nil {
			return fmt.Errorf("the schema has %s at the top level", key)
		}
	}
	return nil
}

// checkSchema checks a schema at a path and all below it.
func (r ruleSet) checkSchema(at string, s map[string]any) error {
	props, err := r.checkKeys(at, s)
	if err != nil {
		return err
	}
	for name, p := range props {
		if r.key != nil && !r.key.MatchString(name) {
			return fmt.Errorf("%s: no key of a property: %q", at, name)
		}
		if err := r.checkInner(at+"/properties/"+name, p); err != nil {
			return err
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if inner, ok := s[key].(map[string]any); ok {
			if err := r.checkInner(at+"/"+key, inner); err != nil {
				return err
			}
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := s[key].([]any)
		for i, inner := range list {
			if err := r.checkInner(fmt.Sprint(at, "/", key, "/", i), inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r ruleSet) checkInner(at string, v any) error {
	s, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %v is no schema", at, v)
	}
	return r.checkSchema(at, s)
}

// checkKeys checks the keys of one schema, and returns its properties.
func (r ruleSet) checkKeys(at string, s map[string]any) (map[string]any, error) {
	var types []string
	switch t := s["type"].(type) {
	case string:
		types = []string{t}
	case []any:
		if r.oneType {
			return nil, fmt.Errorf("%s: the type is a list: %v", at, t)
		}
		for _, name := range t {
			types = append(types, fmt.Sprint(name))
		}
	}
	for _, t := range types {
		if !slices.Contains(typeNames, t) && (!r.openAPI || !slices.Contains(typeNames, strings.ToLower(t))) {
			return nil, fmt.Errorf("%s: there is no type %q", at, t)
		}
		if r.items && strings.EqualFold(t, "array") && s["items"] == nil {
			return nil, fmt.Errorf("%s: array schema missing items", at)
		}
	}
	props, ok := s["properties"].(map[string]any)
	switch {
	case s["properties"] != nil && !ok:
		return nil, fmt.Errorf("%s: properties is no object", at)
	case !r.openAPI:
		return props, nil
	case ok && len(props) == 0:
		return nil, fmt.Errorf("%s/properties: should be non-empty for OBJECT type", at)
	}
	for key := range s {
		if !slices.Contains(openAPIKeys, key) {
			return nil, fmt.Errorf("%s: unknown name %q: cannot find field", at, key)
		}
	}
	return props, checkRequired(at, s["required"], props)
}

func checkRequired(at string, required any, props map[string]any) error {
	list, _ := required.([]any)
	for _, name := range list {
		if _, ok := props[fmt.Sprint(name)]; !ok {
			return fmt.Errorf("%s/required: property %v is not defined", at, name)
		}
	}
	return nil
}
