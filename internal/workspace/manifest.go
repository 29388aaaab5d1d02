package workspace

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// maxManifest is how much of a manifest is read, in bytes.
const maxManifest = 64 << 10

// A project is what the manifests of a folder tell. The zero project is unknown.
type project struct {
	name  string
	stack []string
}

func (p project) String() (text string) {
	if p.name != "" {
		text = "project " + p.name + "\n"
	}
	if len(p.stack) > 0 {
		text += "stack " + strings.Join(p.stack, ", ") + "\n"
	}
	return text
}

// manifests are the files that tell a project. The first one with a name gives it.
var manifests = []struct {
	file string
	read func(text string) (name, stack string)
}{
	{"go.mod", goModule},
	{"package.json", nodePackage},
	{"Cargo.toml", func(text string) (string, string) { return tomlName(text, "package"), "Rust" }},
	{"pyproject.toml", func(text string) (string, string) { return tomlName(text, "project", "tool.poetry"), "Python" }},
}

// projectName is the form of the names that are told: module paths and names of
// packages. Another name may be a text that is meant for the agent.
var projectName = regexp.MustCompile(`^[A-Za-z0-9@][A-Za-z0-9@._/~-]{0,99}$`)

func projectOf(root *os.Root) (p project) {
	for _, m := range manifests {
		text, ok := readManifest(root, m.file)
		if !ok {
			continue
		}
		name, stack := m.read(text)
		if p.name == "" && projectName.MatchString(name) {
			p.name = name
		}
		p.stack = append(p.stack, stack)
	}
	return p
}

// readManifest returns the beginning of a regular file in the root. The file is
// opened without waiting: a named pipe would otherwise wait for a writer.
func readManifest(root *os.Root, name string) (string, bool) {
	if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	b, err := io.ReadAll(io.LimitReader(f, maxManifest))
	return string(b), err == nil
}

var goVersion = regexp.MustCompile(`^[0-9]{1,2}(\.[0-9]{1,3}){0,2}$`)

func goModule(text string) (name, stack string) {
	stack = "Go"
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) != 2:
		case words[0] == "module" && name == "":
			name = words[1]
			if s, err := strconv.Unquote(name); err == nil {
				name = s
			}
		case words[0] == "go" && stack == "Go" && goVersion.MatchString(words[1]):
			stack += " " + words[1]
		}
	}
	return name, stack
}

func nodePackage(text string) (name, stack string) {
	var p struct {
		Name            string         `json:"name"`
		Dependencies    map[string]any `json:"dependencies"`
		DevDependencies map[string]any `json:"devDependencies"`
	}
	if json.Unmarshal([]byte(text), &p) != nil {
		return "", "JavaScript"
	}
	if p.Dependencies["typescript"] != nil || p.DevDependencies["typescript"] != nil {
		return p.Name, "TypeScript"
	}
	return p.Name, "JavaScript"
}

// tomlName returns the value of the key name in the first of these tables, if it is a
// plain string on one line; "" otherwise. It is no parser of TOML: a manifest that
// hides its name in another form has none.
func tomlName(text string, tables ...string) (name string) {
	in := false
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		if strings.HasPrefix(line, "[") {
			in = false
			for _, table := range tables {
				in = in || line == "["+table+"]"
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !in || !ok || strings.TrimSpace(key) != "name" {
			continue
		}
		value = strings.TrimSpace(value)
		if n := len(value); n > 2 && (value[0] == '"' || value[0] == '\'') {
			if end := strings.IndexByte(value[1:], value[0]); end >= 0 {
				return value[1 : end+1]
			}
		}
		return ""
	}
	return ""
}
