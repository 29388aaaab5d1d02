package pack

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/folkmoot/moot/plugins/wasm"
	"github.com/folkmoot/moot/policies/policy"
)

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
