// Package templates holds a template of a new policy for each supported
// language: a complete small policy with its SDK, build script and test cases.
// All templates are the same policy, polite. Tests hold them to the same cases,
// byte for byte.
package templates

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/folkmoot/moot/policies"
)

//go:embed */README.md */policy.json */build.sh */cases/*.yaml
//go:embed go/*.go c/*.c c/*.h rust/Cargo.toml rust/src/*.rs wat/*.wat assemblyscript/package.json assemblyscript/assembly/*.ts
var files embed.FS

// A File is a file in the folder of a new policy.
type File struct {
	Name       string // slash-separated, relative to the folder
	Data       []byte
	Executable bool
}

// Languages returns the languages that have a template, in byte order.
func Languages() []string { return []string{"assemblyscript", "c", "go", "rust", "wat"} }

// Files returns the files of a new policy with the given name in the language
// lang. It reports false if lang has no template. Name consists of letters,
// digits and dashes. The folder of a Go policy holds a copy of the SDK, so that
// it builds without network access.
func Files(lang, name string) ([]File, bool) {
	if !slices.Contains(Languages(), lang) {
		return nil, false
	}
	out := read(files, lang, func(s string) string { return s })
	for i, f := range out {
		out[i].Data = rename(f, name)
	}
	if lang == "go" {
		out = append(out, goModule(name)...)
	}
	return out, true
}

// goModule returns the files that make a Go policy a module of its own, with
// the SDK inside.
func goModule(name string) []File {
	const self, module = "github.com/folkmoot/moot", "module "
	out := []File{
		{Name: "go.mod", Data: []byte(module + name + "\n\ngo 1.24\n\nrequire " + self + " v0.0.0\n\nreplace " + self + " => ./sdk\n")},
		{Name: "sdk/go.mod", Data: []byte(module + self + "\n\ngo 1.24\n")},
	}
	return append(out, read(policies.SDK(), "policy", func(s string) string { return "sdk/policies/policy/" + s })...)
}

func read(from fs.FS, dir string, name func(string) string) (out []File) {
	err := fs.WalkDir(from, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(from, p)
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(p, dir+"/")
		out = append(out, File{Name: name(rel), Data: b, Executable: path.Ext(rel) == ".sh"})
		return nil
	})
	if err != nil {
		panic("templates: reading embedded files: " + err.Error()) // they are in the binary
	}
	return out
}

// rename replaces the name of the template's policy by name.
func rename(f File, name string) []byte {
	s := string(f.Data)
	switch path.Base(f.Name) {
	case "policy.json", "package.json":
		s = strings.Replace(s, `"name": "polite"`, `"name": "`+name+`"`, 1)
	case "Cargo.toml", "main.go":
		s = strings.Replace(s, `"polite"`, `"`+name+`"`, 1)
		s = strings.Replace(s, "Command polite", "Command "+name, 1)
	case "README.md":
		s = strings.Replace(s, "# polite,", "# "+name+",", 1)
	}
	return []byte(s)
}
