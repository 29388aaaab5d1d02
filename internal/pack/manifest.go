package pack

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/plugins/wasm"
	"github.com/folkmoot/moot/policies/policy"
)

// Bounds of a manifest.
const (
	MaxManifest = 256 << 10 // bytes; most of it is the schema of the settings
	maxText     = 500       // bytes of a description
	maxDepth    = 64        // of the JSON of manifests and locks; schemas of settings nest deepest
)

var (
	nameForm   = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// ValidName reports whether s is a valid name of a policy: at most 40
// lower-case letters, digits and single dashes, a letter first.
func ValidName(s string) bool { return len(s) <= 40 && nameForm.MatchString(s) }

// wireManifest is the JSON form of policy.json.
type wireManifest struct {
	Name          string                `json:"name"`
	Version       string                `json:"version"`
	ABI           int                   `json:"abi"`
	Description   string                `json:"description,omitempty"`
	Author        string                `json:"author,omitempty"`
	License       string                `json:"license,omitempty"`
	Wasm          string                `json:"wasm,omitempty"`
	SHA256        string                `json:"sha256,omitempty"`
	ConfigSchema  json.RawMessage       `json:"config_schema,omitempty"`
	DefaultConfig json.RawMessage       `json:"default_config,omitempty"`
	Input         wireNeeds             `json:"input,omitzero"`
	Limits        policy.ManifestLimits `json:"limits,omitzero"`
	MinHost       string                `json:"min_host,omitempty"`
}

type wireNeeds struct {
	HistoryEvents int   `json:"history_events,omitempty"`
	MaxTextBytes  int   `json:"max_text_bytes,omitempty"`
	NeedsText     *bool `json:"needs_text,omitempty"`
	Bids          bool  `json:"bids,omitempty"`
}

// ParseManifest reads a policy.json. Where is for errors, which are
// POL-MANIFEST and POL-ABI.
func ParseManifest(where string, text []byte) (policy.Manifest, error) {
	bad := func(format string, args ...any) (policy.Manifest, error) {
		return policy.Manifest{}, Refuse("POL-MANIFEST", where, "`moot help POL-MANIFEST` lists what a manifest holds", format, args...)
	}
	if len(text) > MaxManifest {
		return bad("the manifest has %d bytes; at most %d", len(text), MaxManifest)
	}
	var w wireManifest
	if err := strict.Located(text, maxDepth, &w); err != nil {
		var at *strict.Error
		if !errors.As(err, &at) {
			return bad("the manifest cannot be read: %v", err)
		}
		fix := "`moot help POL-MANIFEST` lists what a manifest holds"
		offset := int(at.Offset)
		if at.Unknown != "" {
			offset = keyOffset(text, at.Unknown)
			fix = cmp.Or(human.Suggest(at.Unknown, manifestKeys()), "the keys are "+strings.Join(manifestKeys(), ", "))
		}
		return policy.Manifest{}, Refuse("POL-MANIFEST", placeAt(where, text, offset), fix, "the manifest cannot be read: %v", err)
	}
	if w.ABI != policy.ABI {
		return policy.Manifest{}, Refuse("POL-ABI", where, "build it for ABI 1, or use a moot that speaks its ABI",
			"built for policy ABI %d; this moot speaks 1 to %d", w.ABI, policy.ABI)
	}
	if what := w.wrong(); what != "" {
		key, _, _ := strings.Cut(what, " ")
		where = placeAt(where, text, keyOffset(text, key[strings.LastIndexByte(key, '.')+1:]))
		return bad("%s", what)
	}
	return w.manifest(), nil
}

// manifestKeys returns the keys of a manifest and of its parts.
func manifestKeys() (keys []string) {
	for _, part := range []any{wireManifest{}, wireNeeds{}, policy.ManifestLimits{}} {
		t := reflect.TypeOf(part)
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			keys = append(keys, name)
		}
	}
	return keys
}

// keyOffset returns where a key begins in the text, or -1.
func keyOffset(text []byte, key string) int {
	m := regexp.MustCompile(`"` + regexp.QuoteMeta(key) + `"\s*:`).FindIndex(text)
	if m == nil {
		return -1
	}
	return m[0]
}

// placeAt adds the line and the column of an offset to a file name.
func placeAt(where string, text []byte, offset int) string {
	if offset < 0 || offset > len(text) {
		return where
	}
	before := text[:offset]
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("%s:%d:%d", where, bytes.Count(before, []byte("\n"))+1, column)
}

// wrong describes the first invalid value; "" means that all are valid.
func (w wireManifest) wrong() string {
	in := w.Input
	switch {
	case w.MinHost != "" && !ValidVersion(w.MinHost):
		return fmt.Sprintf("min_host %q is not of the form 1.2.3", w.MinHost)
	case !ValidName(w.Name):
		return fmt.Sprintf("name %q is not lower-case letters, digits and single dashes, a letter first, at most 40", w.Name)
	case !ValidVersion(w.Version):
		return fmt.Sprintf("version %q is not of the form 1.2.3", w.Version)
	case w.Wasm != "" && w.Wasm != moduleName:
		return fmt.Sprintf("wasm is %q; the module is %s", w.Wasm, moduleName)
	case w.SHA256 != "" && !digestForm.MatchString(w.SHA256):
		return "sha256 is not 64 hexadecimal digits in lower case"
	case max(len(w.Description), len(w.Author), len(w.License)) > maxText:
		return fmt.Sprintf("description, author and license have at most %d bytes each", maxText)
	case in.HistoryEvents < 0 || in.HistoryEvents > policy.MaxEvents:
		return fmt.Sprintf("input.history_events is %d; it is 0 to %d", in.HistoryEvents, policy.MaxEvents)
	case in.MaxTextBytes < 0 || in.MaxTextBytes > policy.MaxInput:
		return fmt.Sprintf("input.max_text_bytes is %d; it is 0 to %d", in.MaxTextBytes, policy.MaxInput)
	}
	return ""
}

func (w wireManifest) manifest() policy.Manifest {
	m := policy.Manifest{
		Name: w.Name, Version: w.Version, ABI: w.ABI, Description: w.Description, Author: w.Author, License: w.License,
		Wasm: w.Wasm, SHA256: w.SHA256, Limits: w.Limits, MinHost: w.MinHost,
		Input: policy.Needs{
			HistoryEvents: w.Input.HistoryEvents, MaxTextBytes: w.Input.MaxTextBytes, Bids: w.Input.Bids,
			NeedsText: w.Input.NeedsText,
		},
	}
	if w.ConfigSchema != nil {
		m.ConfigSchema = policy.JSON(w.ConfigSchema)
	}
	if w.DefaultConfig != nil {
		m.DefaultConfig = policy.JSON(w.DefaultConfig)
	}
	return m
}

// EncodeManifest encodes a manifest as policy.json. The same manifest gives the
// same bytes.
func EncodeManifest(m policy.Manifest) ([]byte, error) {
	w := wireManifest{
		Name: m.Name, Version: m.Version, ABI: m.ABI, Description: m.Description, Author: m.Author, License: m.License,
		Wasm: m.Wasm, SHA256: m.SHA256, Limits: m.Limits, MinHost: m.MinHost,
		Input: wireNeeds{HistoryEvents: m.Input.HistoryEvents, MaxTextBytes: m.Input.MaxTextBytes, Bids: m.Input.Bids},
	}
	if m.Input.NoText() {
		w.Input.NeedsText = new(bool)
	}
	for _, j := range []struct {
		to   *json.RawMessage
		from any
	}{{&w.ConfigSchema, m.ConfigSchema}, {&w.DefaultConfig, m.DefaultConfig}} {
		if j.from == nil {
			continue
		}
		b, err := json.Marshal(j.from)
		if err != nil {
			return nil, fmt.Errorf("encoding manifest: %w", err)
		}
		*j.to = b
	}
	return encodeJSON(w)
}

// encodeJSON returns v as indented JSON without HTML escapes.
func encodeJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding %T: %w", v, err)
	}
	return out.Bytes(), nil
}

// Custom sections of a policy's module.
const (
	SectionManifest = "roompolicy.manifest" // the policy.json, without wasm and sha256
	SectionSources  = "roompolicy.sources"  // the digest of the sources, hex
)

var errModule = errors.New("not a WebAssembly module")

// EmbedManifest returns the module with the manifest as a custom section, which
// replaces an older one. It leaves out sha256, the digest of the module itself.
func EmbedManifest(module []byte, m policy.Manifest) ([]byte, error) {
	text, err := embedded(m)
	if err != nil {
		return nil, err
	}
	return Embed(module, SectionManifest, text)
}

func embedded(m policy.Manifest) ([]byte, error) {
	m.Wasm, m.SHA256 = "", ""
	return EncodeManifest(m)
}

// ManifestOf reads the manifest embedded in a module; ok is false if there is
// none.
func ManifestOf(where string, module []byte) (m policy.Manifest, ok bool, err error) {
	text, ok := wasm.Custom(module, SectionManifest)
	if !ok {
		return policy.Manifest{}, false, nil
	}
	m, err = ParseManifest(where, text)
	return m, err == nil, err
}

// Embed returns the module with a custom section at its end, which replaces
// all sections of the same name.
func Embed(module []byte, name string, content []byte) ([]byte, error) {
	const header = 8
	if len(module) < header || string(module[:4]) != "\x00asm" {
		return nil, errModule
	}
	out := bytes.Clone(module[:header])
	for rest := module[header:]; len(rest) > 0; {
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || n > 5 || size > uint64(len(rest)-1-n) {
			return nil, errModule
		}
		whole := rest[:1+n+int(size)]
		if whole[0] != 0 || !named(whole[1+n:], name) {
			out = append(out, whole...)
		}
		rest = rest[len(whole):]
	}
	body := append(binary.AppendUvarint(nil, uint64(len(name))), name...)
	body = append(body, content...)
	out = append(out, 0)
	out = binary.AppendUvarint(out, uint64(len(body)))
	return append(out, body...), nil
}

// named reports whether the body of a custom section begins with name.
func named(body []byte, name string) bool {
	size, n := binary.Uvarint(body)
	return n > 0 && size == uint64(len(name)) && bytes.HasPrefix(body[n:], []byte(name))
}
