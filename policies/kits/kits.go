// Package kits holds a folder for each language that policies are written in:
// a whole small policy with its kit, its build script and its cases, to start
// from. All five are the same policy, polite, and are held to the same cases,
// byte for byte.
package kits

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

// A File of a new policy's folder.
type File struct {
	Name       string // slash-separated, relative to the folder
	Data       []byte
	Executable bool
}

// Languages returns the languages there is a kit for, in byte order.
func Languages() []string { return []string{"assemblyscript", "c", "go", "rust", "wat"} }

// Files returns the folder of a new policy called name, in lang, and whether
// there is a kit for lang. Name must be a word of letters, digits and dashes.
// The folder of a Go policy holds a copy of the author kit, so that it builds
// without a network.
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

// goModule makes a Go policy a module of its own, with the kit inside.
func goModule(name string) []File {
	const self, module = "github.com/folkmoot/moot", "module "
	out := []File{
		{Name: "go.mod", Data: []byte(module + name + "\n\ngo 1.24\n\nrequire " + self + " v0.0.0\n\nreplace " + self + " => ./kit\n")},
		{Name: "kit/go.mod", Data: []byte(module + self + "\n\ngo 1.24\n")},
	}
	return append(out, read(policies.Kit(), "policy", func(s string) string { return "kit/policies/policy/" + s })...)
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
		panic("kits: reading embedded files: " + err.Error()) // they are in the binary
	}
	return out
}

// rename puts name where the kit's files name the policy.
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
