package server

import (
	"encoding/json"
	"io"
	"net/http"
	"path"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/policies/policy"
)

// maxDepth is how deep the JSON of a request may be nested.
const maxDepth = 16

// apiConfig returns the description that OpenAPI begins with. Requests are strict
// JSON; the routes for documents are our own.
func apiConfig(version string) huma.Config {
	c := huma.DefaultConfig("Folkmoot", version)
	c.Info.Description = "The rooms of a device. Every error is a Problem. A stream of events has one form in JSON lines, server-sent events and WebSocket messages: Update."
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil // no $schema in bodies
	c.RejectUnknownQueryParameters = true
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	c.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[policy.JSON](), reflect.TypeFor[any]())
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer", Description: "A token: `moot token new` makes one"},
		"cookie": {Type: "apiKey", In: "cookie", Name: "moot_PORT", Description: "Of a browser that a launch code has signed in"},
	}
	format := huma.Format{
		Marshal: func(w io.Writer, v any) error {
			enc := json.NewEncoder(w)
			enc.SetEscapeHTML(false)
			return enc.Encode(v)
		},
		Unmarshal: func(b []byte, v any) error { return strict.Decode(b, maxDepth, v) },
	}
	c.Formats = map[string]huma.Format{"application/json": format, "json": format} // json is the suffix of problem+json
	return c
}

// schemaName names the schema of a type. Types of other packages than api have the name
// of theirs in front: room.Message is not api.Message.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	if of := path.Base(t.PkgPath()); t.Name() != "" && of != "api" && of != "." {
		name = strings.ToUpper(of[:1]) + of[1:] + name
	}
	return name
}

// OpenAPI returns the description of the routes, OpenAPI 3.1.
func OpenAPI(version string) ([]byte, error) { return New(Config{Version: version}).document() }

func (s *Server) document() ([]byte, error) { return json.Marshal(s.api.OpenAPI()) }

func (s *Server) registerOpenAPI() {
	s.rawAs(Read, huma.Operation{
		OperationID: "openapi", Method: http.MethodGet, Path: "/openapi.json", Summary: "This description, OpenAPI 3.1",
		Responses: map[string]*huma.Response{"200": {Description: "The description", Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject}}}}},
	}, func(w http.ResponseWriter, r *http.Request) {
		b, err := s.document()
		if err != nil {
			s.fail(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(b) // the caller has gone, if not
	})
}

// schemaOf returns the schema of a type, which is in the description from then on.
func schemaOf[T any](s *Server) *huma.Schema {
	return s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
}

// describe completes an operation for the description: its errors, and who may call
// it.
func (s *Server) describe(need Scope, op huma.Operation) huma.Operation {
	if need == Nobody {
		op.Security = []map[string][]string{}
	} else {
		op.Security = []map[string][]string{{"bearer": {}}, {"cookie": {}}}
		op.Extensions = map[string]any{"x-scope": need.String()}
	}
	// The body has been read, within its own time and size. A deadline of huma would stay
	// on the connection and end requests that take longer.
	op.BodyReadTimeout, op.MaxBodyBytes = -1, -1
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	op.Responses["default"] = &huma.Response{Description: "An error", Content: map[string]*huma.MediaType{api.ProblemType: {Schema: schemaOf[api.Problem](s)}}}
	return op
}
