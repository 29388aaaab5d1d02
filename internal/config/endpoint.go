package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/policies/policy"
)

// Kinds of endpoints.
const (
	KindNDJSON   = "ndjson"
	KindScripted = "scripted"
	KindRelay    = "relay"
	KindGo       = "go" // an agent of the Go program that hosts the room
)

// An Endpoint is how an agent is reached, with variables expanded and paths
// absolute. It may hold secrets: it is neither logged nor shown.
type Endpoint struct {
	Kind    string
	Command []string          // the program, absolute unless it is looked up in PATH, and its arguments
	Dir     string            // folder it runs in, absolute
	Env     map[string]string // beside what every agent gets
	Restart int               // times it is started again by itself
	Script  string            // file of lines, absolute
	Lines   []string
	Peer    string // name or id of the device that a remote agent is on
	Profile string // its profile there
	Name    string // of an agent in Go
}

// wireEndpoint is an endpoint as it is written. Base is only in the form that
// the log keeps: the folder of an included file, relative to the room's.
type wireEndpoint struct {
	Kind    string            `json:"kind"`
	Command []string          `json:"command,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Restart int               `json:"restart,omitempty"`
	Script  string            `json:"script,omitempty"`
	Lines   []string          `json:"lines,omitempty"`
	Peer    string            `json:"peer,omitempty"`
	Profile string            `json:"profile,omitempty"`
	Name    string            `json:"name,omitempty"`
	Base    string            `json:"base,omitempty"`
}

// resolve makes paths absolute; relative ones start at dir.
func (w *wireEndpoint) resolve(dir string) Endpoint {
	e := Endpoint{Kind: w.Kind, Env: w.Env, Restart: w.Restart, Lines: w.Lines, Peer: w.Peer, Profile: w.Profile, Name: w.Name}
	if w.Kind == KindNDJSON {
		e.Command, e.Dir = slices.Clone(w.Command), join(dir, w.Cwd)
		if len(e.Command) > 0 && strings.ContainsAny(e.Command[0], `/\`) {
			e.Command[0] = join(dir, e.Command[0])
		}
	}
	if w.Script != "" {
		e.Script = join(dir, w.Script)
	}
	return e
}

func join(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// IsPath tells a policy's path from a name.
func IsPath(use string) bool {
	return strings.HasPrefix(use, ".") || strings.ContainsAny(use, `/\`) || strings.HasSuffix(use, ".wasm")
}

// written returns participant i's endpoint as it was written, variables
// unexpanded, in JSON: what the log keeps.
func (d *document) written(i int) policy.JSON {
	n, _ := d.find([]string{"participants", strconv.Itoa(i), "endpoint"})
	plain := document{owner: d.owner, main: d.main, root: d.root, verbatim: true}
	v, ok := plain.value(n, []string{"participants", strconv.Itoa(i), "endpoint"}).(map[string]any)
	if !ok {
		return nil
	}
	if rel, err := filepath.Rel(d.main.dir, d.sourceOf(i).dir); err == nil && rel != "." {
		v["base"] = filepath.ToSlash(rel)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

// ExpandEndpoint makes an endpoint usable that was kept as it was written,
// such as [room.Participant].Endpoint of a room that is opened again. dir is
// the room's folder; a nil lookup is os.LookupEnv.
func ExpandEndpoint(written policy.JSON, dir string, lookup func(string) (string, bool)) (Endpoint, error) {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	dec := json.NewDecoder(bytes.NewReader(written))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return Endpoint{}, fmt.Errorf("decoding endpoint: %w", err)
	}
	v, err := expandAll(v, lookup)
	if err != nil {
		return Endpoint{}, fmt.Errorf("expanding endpoint: %w", err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return Endpoint{}, fmt.Errorf("encoding endpoint: %w", err)
	}
	var w wireEndpoint
	if err := strict(b, &w); err != nil {
		return Endpoint{}, fmt.Errorf("decoding endpoint: %w", err)
	}
	return w.resolve(join(dir, filepath.FromSlash(w.Base))), nil
}

// expandAll expands every string of a JSON value.
func expandAll(v any, lookup func(string) (string, bool)) (any, error) {
	var err error
	switch t := v.(type) {
	case string:
		return expand(t, lookup)
	case []any:
		for i := range t {
			if t[i], err = expandAll(t[i], lookup); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range t {
			if t[k], err = expandAll(t[k], lookup); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
