package mcp

import (
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaOf returns the schema of the arguments of a tool, in the form that the APIs of
// all models take: each schema has one type, so that a field is left out instead of null,
// and the arguments have properties, even if there are none.
func schemaOf[In any]() *jsonschema.Schema {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // a type without a schema, which each test of this package finds
	}
	withoutNull(s)
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	return s
}

func withoutNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if i := slices.Index(s.Types, "null"); i >= 0 && len(s.Types) == 2 {
		s.Type, s.Types = s.Types[1-i], nil
	}
	withoutNull(s.Items)
	for _, p := range s.Properties {
		withoutNull(p)
	}
}
