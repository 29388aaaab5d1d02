package mcp

import (
	"bufio"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/folkmoot/moot/endpoints/acp"
	"github.com/folkmoot/moot/test/agents/model"
)

// configured returns the configurations in docs/mcp.md, in their order.
func configured(t *testing.T) (texts []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```(?:json|toml)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		texts = append(texts, m[1])
	}
	if len(texts) != 6 {
		t.Fatalf("docs/mcp.md has %d configurations", len(texts))
	}
	return texts
}

// TestDocumented gives agents the configurations of docs/mcp.md, and has each list the
// rooms of a running `moot serve`.
func TestDocumented(t *testing.T) {
	if os.Getenv("MOOT_AGENTS") == "" {
		t.Skip("these agents are not part of CI; fix: run test/agents/run.sh, and set MOOT_AGENTS to the folder that it installs to")
	}
	texts := configured(t)
	for i, name := range []string{"claude", "codex", "opencode"} {
		for j, transport := range []string{"stdio", "http"} {
			t.Run(name+" "+transport, func(t *testing.T) { runConfigured(t, name, texts[3*j+i]) })
		}
	}
}

func runConfigured(t *testing.T, name, config string) {
	home := t.TempDir()
	address, token := serve(t, home)
	config = strings.ReplaceAll(config, "127.0.0.1:8420", strings.TrimPrefix(address, "http://"))
	llm := httptest.NewServer(model.New(model.Config{}))
	defer llm.Close()
	i := slices.IndexFunc(agents, func(a agent) bool { return a.name == name })
	c := agents[i].settle(t, home, llm.URL)
	c.Env = append(c.Env, "MOOT_TOKEN="+token)
	switch name {
	case "claude":
		write(t, filepath.Join(c.Dir, ".mcp.json"), config)
		write(t, filepath.Join(home, ".claude", "settings.json"), `{"enableAllProjectMcpServers": true}`)
	case "codex":
		write(t, filepath.Join(home, "config.toml"), config)
	case "opencode":
		write(t, filepath.Join(c.Dir, "opencode.json"), config)
	}
	e := acp.New(c)
	defer e.Close()
	if said := callTool(t, e, "list_rooms:{}"); !strings.Contains(said, `"rooms`) {
		t.Errorf("it said %q", said)
	}
}

// serve starts the server of a home folder, and returns its address and a token.
func serve(t *testing.T, home string) (address, token string) {
	t.Helper()
	cmd := exec.Command("moot", "serve", "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "HOME="+home, "MOOT_DATA=", "XDG_DATA_HOME=")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	address, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(home, ".local", "share", "moot", "server", "token"))
	if err != nil || len(files) != 1 {
		t.Fatal("no token: ", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address), strings.TrimSpace(string(b))
}
