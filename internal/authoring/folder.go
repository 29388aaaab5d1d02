package authoring

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/plugins/wasm"
	"github.com/folkmoot/moot/policies/policy"
)

// Names in a policy's folder.
const (
	manifestFile = "policy.json"
	moduleFile   = "policy.wasm"
	scriptFile   = "build.sh"
	readmeFile   = "README.md"
	casesFolder  = "cases"
)

// A Folder holds the sources of a policy.
type Folder struct {
	Dir      string
	Manifest policy.Manifest // of policy.json, without the module's digest
}

// Open opens a policy's folder.
func Open(dir string) (*Folder, error) {
	path := filepath.Join(dir, manifestFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuse("POL-FOLDER", dir, "name a policy's folder, or make one: moot policy new NAME", "not a policy's folder: there is no %s", manifestFile)
	}
	if err != nil {
		return nil, refuse("POL-FOLDER", path, "let it be readable", "cannot be read: %s", reason(err))
	}
	m, err := pack.ParseManifest(path, text)
	if err != nil {
		return nil, err
	}
	m.Wasm, m.SHA256 = moduleFile, ""
	return &Folder{dir, m}, nil
}

// Path returns where a file of the folder is.
func (f *Folder) Path(name string) string { return filepath.Join(f.Dir, name) }

// Cases reads the folder's cases, cases/*.yaml in byte order. There may be
// none.
func (f *Folder) Cases() ([]pack.File, error) { return ReadCases(f.Path(casesFolder)) }

// ReadCases reads the cases of a folder of cases.
func ReadCases(dir string) ([]pack.File, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, refuse("POL-CASES", dir, "let it be readable", "the cases cannot be listed: %s", reason(err))
	}
	var cases []pack.File
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".yaml") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, refuse("POL-CASES", filepath.Join(dir, e.Name()), "let it be readable", "the case cannot be read: %s", reason(err))
		}
		cases = append(cases, pack.File{Name: e.Name(), Text: text})
	}
	return cases, nil
}

// Pack returns the contents of a pack with the given module.
func (f *Folder) Pack(module []byte) (pack.Pack, error) {
	readme, err := os.ReadFile(f.Path(readmeFile))
	if err != nil {
		return pack.Pack{}, refuse("POL-FOLDER", f.Path(readmeFile), "say in it what the policy does", "a pack needs a %s: %s", readmeFile, reason(err))
	}
	cases, err := f.Cases()
	return pack.Pack{Manifest: f.Manifest, Module: module, Readme: readme, Cases: cases}, err
}

// Built returns the built module and reports whether it is up to date with its
// sources. The module is nil if it was never built.
func (f *Folder) Built() (module []byte, fresh bool, err error) {
	module, err = os.ReadFile(f.Path(moduleFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, refuse("POL-FOLDER", f.Path(moduleFile), "let it be readable", "cannot be read: %s", reason(err))
	}
	digest, err := f.Sources()
	if err != nil {
		return nil, false, err
	}
	stamp, _ := wasm.Custom(module, pack.SectionSources)
	return module, string(stamp) == digest, nil
}

// notSources are files and folders that are not part of the build: outputs of
// tools, tests and documentation.
var notSources = []string{moduleFile, readmeFile, casesFolder, "node_modules", "target"}

func isSource(name string) bool {
	for _, end := range []string{"_test.go", ".wasm", ".o", ".md", pack.Extension, pack.SignatureExtension, ".key", ".pub"} {
		if strings.HasSuffix(name, end) {
			return false
		}
	}
	return !strings.HasPrefix(name, ".") && !slices.Contains(notSources, name)
}
