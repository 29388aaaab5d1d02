package setupcmd

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// openAPI is the description of the HTTP API.
func openAPI() any {
	b, err := server.OpenAPI(catalog.Version())
	if err != nil {
		panic(err) // of Go types that the tests encode
	}
	return json.RawMessage(b)
}

// schemas makes the JSON Schema of each kind of file.
var schemas = []struct {
	kind, doc string
	make      func() any
}{
	{"event", "one line of a room's log or of an exported transcript", eventSchema},
	{"message", "the envelope of everything that is said", func() any { return schemaOf("message", room.Message{}) }},
	{"openapi", "the HTTP API, as OpenAPI 3.1", openAPI},
	{"policy", "policy.json, the manifest of a policy", func() any { return schemaOf("policy.json", policy.Manifest{}) }},
	{"room", "room.yaml", func() any { return json.RawMessage(config.Schema()) }},
}

// newSchemaCmd prints schemas for editors and other programs.
func newSchemaCmd(a *commands) *cobra.Command {
	var names []string
	long := "schema prints a JSON Schema:\n\n"
	for _, s := range schemas {
		names = append(names, s.kind)
		long += "  " + s.kind + strings.Repeat(" ", 9-len(s.kind)) + s.doc + "\n"
	}
	cmd := &cobra.Command{
		Use:       "schema {" + strings.Join(names, " | ") + "}",
		Short:     "Print the JSON Schema of room.yaml and of other files, or the OpenAPI of the server",
		Long:      long + "\nEditors read room.yaml's with this first line:\n  # yaml-language-server: $schema=./room.schema.json",
		Example:   "  moot schema room > room.schema.json",
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(names, args[0]) {
				return app.Usagef(cmd, "schema takes one of %s", strings.Join(names, ", "))
			}
			return a.printSchema(args[0])
		},
	}
	app.Formats(cmd, app.FormatJSON)
	return cmd
}

func (a *commands) printSchema(kind string) error {
	for _, s := range schemas {
		if s.kind != kind {
			continue
		}
		b, err := json.Marshal(s.make())
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := json.Indent(&out, b, "", "  "); err != nil {
			return err
		}
		out.WriteByte('\n')
		_, err = io.Copy(a.Stdout, &out)
		return err
	}
	return nil
}

const dialect = "https://json-schema.org/draft/2020-12/schema"

// object is a JSON object under construction.
type object = map[string]any

// schemaOf derives a schema from how a Go value is encoded. Unknown
// properties are allowed: newer releases add some.
func schemaOf(title string, v any) object {
	s := typeSchema(reflect.TypeOf(v))
	s["$schema"], s["title"] = dialect, title
	return s
}

// eventSchema is the envelope of an event and, by its type, its body.
func eventSchema() any {
	var names []string
	var cases []any
	for _, b := range room.Bodies() {
		names = append(names, b.Type())
		cases = append(cases, object{
			"if":   object{"properties": object{"type": object{"const": b.Type()}}},
			"then": object{"properties": object{"body": typeSchema(reflect.TypeOf(b))}},
		})
	}
	slices.Sort(names)
	return object{
		"$schema": dialect, "title": "event", "type": "object",
		"required": []string{"v", "seq", "id", "type", "actor", "epoch", "at", "clock_ns", "body"},
		"properties": object{
			"v": object{"const": room.FormatVersion}, "seq": object{"type": "integer", "minimum": 1},
			"id": object{"type": "string"}, "type": object{"enum": names}, "actor": object{"type": "string"},
			"command": object{"type": "string"}, "via": object{"type": "string"}, "epoch": object{"type": "integer", "minimum": 0},
			"at": object{"type": "string", "format": "date-time"}, "clock_ns": object{"type": "integer", "minimum": 0},
			"body": object{"type": "object"},
		},
		"allOf": cases,
	}
}

// typeSchema follows encoding/json's rules.
func typeSchema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[policy.JSON]():
		return object{}
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Int32:
		return object{"type": "integer"}
	case reflect.Uint, reflect.Uint64, reflect.Uint32:
		return object{"type": "integer", "minimum": 0}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": []string{"array", "null"}, "items": typeSchema(t.Elem())}
	case reflect.Map:
		return object{"type": []string{"object", "null"}, "additionalProperties": typeSchema(t.Elem())}
	case reflect.Struct:
		return structSchema(t)
	}
	return object{}
}

func structSchema(t reflect.Type) object {
	props := object{}
	var required []string
	for f := range t.Fields() {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			inner := structSchema(f.Type)
			for k, v := range inner["properties"].(object) {
				props[k] = v
			}
			more, _ := inner["required"].([]string)
			required = append(required, more...)
			continue
		case name == "-" || name == "":
			continue
		}
		props[name] = typeSchema(f.Type)
		if !strings.Contains(opts, "omit") && f.Type.Kind() != reflect.Pointer {
			required = append(required, name)
		}
	}
	s := object{"type": "object", "properties": props}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}
