package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/acp"
	"github.com/folkmoot/moot/internal/config"
)

// TestDocs runs what the documentation shows. In a block
//
//	```console
//	$ moot version
//	moot ...
//	```
//
// each line after "$ " is run by a shell, in a folder that lasts for the page
// and has the repository's examples; the lines up to the next command are
// what it prints. "..." stands for anything, on a line of its own for any
// number of lines; without any lines the output is not compared. A command
// has to end with 0 unless what it prints ends with "exit N".
// UPDATE_GOLDEN=1 rewrites what has no "...". A block whose fence names a file
// after its language, as in "```go polite/policy.go", is written to that file.
func TestDocs(t *testing.T) {
	pages := []string{"../../README.md", "../../CONTRIBUTING.md"}
	more, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, page := range append(pages, more...) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		cmds := commandsIn(string(text))
		ran += len(cmds)
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			runPage(t, page, string(text), cmds)
		})
	}
	if ran < 10 {
		t.Errorf("only %d commands found: the scan is broken", ran)
	}
}

// A documented is one command of a page with what it is said to print.
type documented struct {
	line    int // of the command, from 0
	command string
	output  []string
	file    string // written instead of a command: its lines are output
}

// commandsIn finds the commands of all console blocks.
func commandsIn(text string) (cmds []documented) {
	inside := false
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			_, file, named := strings.Cut(line, " ")
			if named {
				cmds = append(cmds, documented{line: i, file: file})
			}
			inside = named || line == "```console"
		case !inside:
		case strings.HasPrefix(line, "$ "):
			cmds = append(cmds, documented{line: i, command: line[2:]})
		case len(cmds) > 0:
			last := &cmds[len(cmds)-1]
			last.output = append(last.output, line)
		}
	}
	return cmds
}

func runPage(t *testing.T, page, text string, cmds []documented) {
	work := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(work, "examples"), os.DirFS(filepath.Join(root, "examples"))); err != nil {
		t.Fatal(err)
	}
	seatFakes(t, filepath.Join(work, "bin"))
	t.Cleanup(func() { // servers of a page that failed
		_ = exec.Command("sh", "-c", "kill $(cat '"+work+"'/*.pid) 2>/dev/null").Run()
	})
	address := freeAddress(t)
	lines := strings.Split(text, "\n")
	changed := map[int][]string{}
	for _, c := range cmds {
		if c.file != "" {
			writeDocumented(t, filepath.Join(work, c.file), c.output)
			continue
		}
		c.command = strings.ReplaceAll(c.command, documentedAddress, address) // pages are tested at the same time
		got := runDocumented(t, work, c)
		if len(c.output) == 0 || likeShown(c.output, got) {
			continue
		}
		if update && !slices.ContainsFunc(c.output, func(l string) bool { return strings.Contains(l, "...") }) {
			changed[c.line] = got
			continue
		}
		t.Errorf("%s:%d: $ %s\nprints\n%s\nnot\n%s", page, c.line+1, c.command, strings.Join(got, "\n"), strings.Join(c.output, "\n"))
	}
	if len(changed) == 0 {
		return
	}
	for _, c := range slices.Backward(cmds) { // so that no later line moves
		if got, ok := changed[c.line]; ok {
			lines = slices.Replace(lines, c.line+1, c.line+1+len(c.output), got...)
		}
	}
	if err := os.WriteFile(page, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// documentedAddress is the address of `moot serve` on the pages.
const documentedAddress = "127.0.0.1:8420"

// freeAddress returns an address at which a server can listen. Its port is below those
// that the system chooses for other listeners and connections, so none of them gets it.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1000 {
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(10_000))); err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("there is no free port")
	return ""
}

// seatFakes makes a folder with agents that the documentation shows. They behave
// like those of their names, but ask no model.
func seatFakes(t *testing.T, bin string) {
	t.Helper()
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"claude-agent-acp", "codex-acp"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nexec fake-agent ready\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func writeDocumented(t *testing.T, path string, lines []string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// slowStart is what a room says of an agent whose start takes over a second, as on a busy
// machine.
var slowStart = regexp.MustCompile(`(?m)^── .* is ready after .*\n\n?`)

// runDocumented runs one command in a clean environment and returns the lines that
// it printed, with the exit code as the last when it is not 0.
func runDocumented(t *testing.T, work string, c documented) []string {
	t.Helper()
	cmd := exec.Command("sh", "-c", strings.ReplaceAll(c.command, "go run ./cmd/moot", "moot"))
	cmd.Dir = work
	cmd.Env = append(os.Environ(),
		"PATH="+filepath.Join(work, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+filepath.Join(work, "home"), "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "XDG_CACHE_HOME="+cacheHome(), "MOOT_DATA=", "MOOT_CONFIG=", "NO_COLOR=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	code := exitCodeOf(cmd.Run())
	text := strings.TrimRight(slowStart.ReplaceAllString(out.String(), ""), "\n")
	if code != "0" {
		text += "\nexit " + code
	}
	wantsFailure := len(c.output) > 0 && strings.HasPrefix(c.output[len(c.output)-1], "exit ")
	if code != "0" && !wantsFailure {
		t.Errorf("$ %s\n%s", c.command, text)
	}
	return strings.Split(strings.TrimPrefix(text, "\n"), "\n")
}

// cacheHome is shared by all pages: compiled policies do not depend on them.
func cacheHome() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return os.TempDir()
	}
	return dir
}

// likeShown compares what was printed with what is documented, "..." standing for
// anything.
func likeShown(want, got []string) bool {
	var re strings.Builder
	re.WriteString("^")
	for _, line := range want {
		if line == "..." {
			re.WriteString("(?:.*\n)*")
			continue
		}
		re.WriteString(strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(line, " ")), `\.\.\.`, ".*") + "\n")
	}
	re.WriteString("$")
	var text strings.Builder
	for _, line := range got {
		fmt.Fprintln(&text, strings.TrimRight(line, " "))
	}
	return regexp.MustCompile(re.String()).MatchString(text.String())
}

func TestLikeShown(t *testing.T) {
	for _, c := range []struct {
		want, got string
		ok        bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"a ...", "a b", true},
		{"...", "a|b", true},
		{"a|...|d", "a|b|c|d", true},
		{"a|...|d", "a|d", true},
		{"a|...|d", "a|b", false},
		{"a.b", "axb", false},
	} {
		if got := likeShown(strings.Split(c.want, "|"), strings.Split(c.got, "|")); got != c.ok {
			t.Errorf("%q like %q: %v", c.got, c.want, got)
		}
	}
}

// TestRoomKeysDocumented: docs/room.md names every key of the schema.
func TestRoomKeysDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/room.md")
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	if err := json.Unmarshal(config.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	collectKeys(schema, keys)
	if len(keys) < 50 {
		t.Fatalf("only %d keys found: the walk is broken", len(keys))
	}
	for key := range keys {
		if !regexp.MustCompile(`[^A-Za-z_]` + key + `[^A-Za-z_]`).Match(page) {
			t.Errorf("docs/room.md does not name %s", key)
		}
	}
}

// TestPresetsDocumented: docs/agents.md says of each preset how it is installed,
// how its owner signs in, what it is put into, and what that does not enforce.
func TestPresetsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range acp.Presets() {
		row := fmt.Sprintf("| `%s` | `%s` | %s | %s | %s |", p.Name, p.Install, p.SignIn, p.Enforces(), p.Limits)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/agents.md has no row\n%s", row)
		}
	}
}

// collectKeys gathers the names under "properties", at every depth.
func collectKeys(v any, keys map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		if props, ok := v["properties"].(map[string]any); ok {
			for name := range props {
				keys[name] = true
			}
		}
		for _, child := range v {
			collectKeys(child, keys)
		}
	case []any:
		for _, child := range v {
			collectKeys(child, keys)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// TestLinks: what a page links to in the repository is there.
func TestLinks(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md", "../../CHANGELOG.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), string(m[1]))); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}
