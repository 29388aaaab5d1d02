// Package authoring works on the folder of a policy: it makes a new folder from
// a template, builds the module, and checks whether a module is up to date.
//
// A folder contains policy.json, build.sh, cases/ and the sources. build.sh
// makes policy.wasm. It is a program of the author and runs with the author's
// rights, like the command of an agent. If a compiler is missing, it exits with
// code 3 and prints to stderr what to install.
//
// A build embeds the manifest and the digest of the sources in the module, as
// custom sections. So the module itself shows whether it is up to date, even in
// a copy of the folder. The times of files do not matter.
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
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/policies/templates"
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
		return nil, pack.Refuse("POL-FOLDER", dir, "name a policy's folder, or make one: moot policy new NAME", "not a policy's folder: there is no %s", manifestFile)
	}
	if err != nil {
		return nil, pack.Refuse("POL-FOLDER", path, "let it be readable", "cannot be read: %s", pack.Reason(err))
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
		return nil, pack.Refuse("POL-CASES", dir, "let it be readable", "the cases cannot be listed: %s", pack.Reason(err))
	}
	var cases []pack.File
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".yaml") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, pack.Refuse("POL-CASES", filepath.Join(dir, e.Name()), "let it be readable", "the case cannot be read: %s", pack.Reason(err))
		}
		cases = append(cases, pack.File{Name: e.Name(), Text: text})
	}
	return cases, nil
}

// Pack returns the contents of a pack with the given module.
func (f *Folder) Pack(module []byte) (pack.Pack, error) {
	readme, err := os.ReadFile(f.Path(readmeFile))
	if err != nil {
		return pack.Pack{}, pack.Refuse("POL-FOLDER", f.Path(readmeFile), "say in it what the policy does", "a pack needs a %s: %s", readmeFile, pack.Reason(err))
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
		return nil, false, pack.Refuse("POL-FOLDER", f.Path(moduleFile), "let it be readable", "cannot be read: %s", pack.Reason(err))
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

// New makes the folder of a new policy from a template. The last element of
// dir is the policy's name. It returns the slash-separated names of the files.
// It refuses a folder that exists.
func New(dir, lang string) (*Folder, []string, error) {
	name := filepath.Base(dir)
	switch {
	case !pack.ValidName(name):
		return nil, nil, pack.Refuse("POL-NAME", dir, "use lower-case letters, digits and single dashes, a letter first, at most 40", "%q cannot be the name of a policy", name)
	case policies.Reserved(name):
		return nil, nil, pack.Refuse("POL-NAME", dir, "choose another name", "%s is a built-in policy", name)
	}
	files, ok := templates.Files(lang, name)
	if !ok {
		return nil, nil, pack.Refuse("CLI-USAGE", "", "there are templates for "+strings.Join(templates.Languages(), ", "), "there is no template for %q", lang)
	}
	if _, err := os.Lstat(dir); err == nil {
		return nil, nil, pack.Refuse("POL-EXISTS", dir, "choose another name, or remove it", "there is a file or folder of that name")
	}
	var names []string
	for _, f := range files {
		path, mode := filepath.Join(dir, filepath.FromSlash(f.Name)), os.FileMode(0o644)
		if f.Executable {
			mode = 0o755
		}
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, f.Data, mode)
		}
		if err != nil {
			return nil, nil, pack.Refuse("POL-FOLDER", filepath.Join(dir, f.Name), "choose a folder that can be written", "cannot be written: %s", pack.Reason(err))
		}
		names = append(names, f.Name)
	}
	slices.Sort(names)
	f, err := Open(dir)
	return f, names, err
}
