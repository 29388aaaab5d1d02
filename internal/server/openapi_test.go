package server_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/folkmoot/moot/internal/server"
)

// A document is the description of the routes.
type document struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		Security  []map[string][]string
		Scope     string `json:"x-scope"`
		Responses map[string]struct {
			Content map[string]struct{ Schema any }
		}
	}
	routes   []server.Route
	compiler *jsonschema.Compiler
}

func parseDocument(t testing.TB) *document {
	t.Helper()
	text, err := server.OpenAPI("test")
	if err != nil {
		t.Fatal(err)
	}
	d := &document{routes: server.New(server.Config{}).Routes(), compiler: jsonschema.NewCompiler()}
	if err := json.Unmarshal(text, d); err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.compiler.AddResource("api.json", v); err != nil {
		t.Fatal(err)
	}
	return d
}

// check compares an answer with the description of its route.
func (d *document) check(t testing.TB, resp *http.Response, body []byte) {
	t.Helper()
	path, method := d.pathOf(resp.Request), strings.ToLower(resp.Request.Method)
	op, ok := d.Paths[path][method]
	if !ok {
		return // there is no such route
	}
	status := map[int]string{200: "200", 201: "201", 204: "204", 101: "101"}[resp.StatusCode]
	if status == "" {
		status = "default"
	} else if _, ok := op.Responses[status]; !ok && method == "post" {
		status = "201" // of a room that exists: the same body
	}
	described, ok := op.Responses[status]
	if !ok {
		t.Errorf("%s %s: the status %d is not described", method, path, resp.StatusCode)
		return
	}
	if len(body) == 0 {
		return
	}
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return
	}
	i := slices.IndexFunc(keysOf(described.Content), func(m string) bool { return strings.HasPrefix(m, media) })
	if i < 0 {
		t.Errorf("%s %s: the type %s of a %d is not described", method, path, media, resp.StatusCode)
		return
	}
	if described.Content[keysOf(described.Content)[i]].Schema == nil {
		return // a transcript
	}
	place := "api.json#/paths/" + escape(path) + "/" + method + "/responses/" + status + "/content/" + escape(keysOf(described.Content)[i]) + "/schema"
	schema, err := d.compiler.Compile(place)
	if err != nil {
		t.Fatalf("%s: %v", place, err)
	}
	for _, value := range valuesOf(media, body) {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
		if err == nil {
			err = schema.Validate(v)
		}
		if err != nil {
			t.Errorf("%s %s answers %s, which is not as described: %v", method, path, value, err)
		}
	}
}

// valuesOf returns the JSON values of a body.
func valuesOf(media string, body []byte) (values [][]byte) {
	if strings.HasSuffix(media, "json") && !strings.HasSuffix(media, "ndjson") {
		return [][]byte{body}
	}
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		line := bytes.TrimPrefix(lines.Bytes(), []byte("data: "))
		if len(line) > 0 && line[0] == '{' {
			values = append(values, slices.Clone(line))
		}
	}
	return values
}

// escape makes a segment of a JSON pointer in a URL.
func escape(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", " ", "%20").Replace(s)
}

func keysOf[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// pathOf returns the path of the route of a request.
func (d *document) pathOf(r *http.Request) string {
	mux := http.NewServeMux()
	for _, route := range d.routes {
		mux.Handle(route.Method+" "+route.Path, http.NotFoundHandler())
	}
	_, pattern := mux.Handler(r)
	_, path, _ := strings.Cut(pattern, " ")
	return path
}

// TestOpenAPI compares the routes with their description, in both directions.
func TestOpenAPI(t *testing.T) {
	d := parseDocument(t)
	if d.OpenAPI != "3.1.0" {
		t.Errorf("the version is %q", d.OpenAPI)
	}
	described := map[string]bool{}
	for path, methods := range d.Paths {
		for method, op := range methods {
			described[strings.ToUpper(method)+" "+path] = true
			if _, ok := op.Responses["default"]; !ok {
				t.Errorf("%s %s describes no error", method, path)
			}
			if len(op.Responses) < 2 {
				t.Errorf("%s %s describes no success", method, path)
			}
		}
	}
	for _, r := range d.routes {
		name := r.Method + " " + r.Path
		if !described[name] {
			t.Errorf("%s is not described", name)
		}
		delete(described, name)
		op := d.Paths[r.Path][strings.ToLower(r.Method)]
		if r.Need == server.Nobody && len(op.Security) > 0 || r.Need != server.Nobody && (len(op.Security) == 0 || op.Scope != r.Need.String()) {
			t.Errorf("%s needs %s, and its description says %q", name, r.Need, op.Scope)
		}
	}
	for name := range described {
		t.Errorf("%s is described, and is no route", name)
	}
	for _, r := range d.routes { // schemas that do not compile would check nothing
		for status, resp := range d.Paths[r.Path][strings.ToLower(r.Method)].Responses {
			for media, c := range resp.Content {
				if c.Schema == nil {
					continue
				}
				place := "api.json#/paths/" + escape(r.Path) + "/" + strings.ToLower(r.Method) + "/responses/" + status + "/content/" + escape(media) + "/schema"
				if _, err := d.compiler.Compile(place); err != nil {
					t.Errorf("%s %s: %v", r.Method, r.Path, err)
				}
			}
		}
	}
}
