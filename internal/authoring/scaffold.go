package authoring

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/templates"
)

// New makes the folder of a new policy from a template. The last element of
// dir is the policy's name. It returns the slash-separated names of the files.
// It refuses a folder that exists.
func New(dir, lang string) (*Folder, []string, error) {
	name := filepath.Base(dir)
	switch {
	case !pack.ValidName(name):
		return nil, nil, refuse("POL-NAME", dir, "use lower-case letters, digits and single dashes, a letter first, at most 40", "%q cannot be the name of a policy", name)
	case policies.Has(name):
		return nil, nil, refuse("POL-NAME", dir, "choose another name", "%s is a built-in policy", name)
	}
	files, ok := templates.Files(lang, name)
	if !ok {
		return nil, nil, refuse("CLI-USAGE", "", "there are templates for "+strings.Join(templates.Languages(), ", "), "there is no template for %q", lang)
	}
	if _, err := os.Lstat(dir); err == nil {
		return nil, nil, refuse("POL-EXISTS", dir, "choose another name, or remove it", "there is a file or folder of that name")
	}
	var names []string
	for _, f := range files {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(f.Name)), f); err != nil {
			return nil, nil, refuse("POL-FOLDER", filepath.Join(dir, f.Name), "choose a folder that can be written", "cannot be written: %s", reason(err))
		}
		names = append(names, f.Name)
	}
	slices.Sort(names)
	f, err := Open(dir)
	return f, names, err
}

func writeFile(path string, f templates.File) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if f.Executable {
		mode = 0o755
	}
	return os.WriteFile(path, f.Data, mode)
}
