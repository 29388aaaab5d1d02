// Package mcp tests the tools for agents with other programs' clients of the Model
// Context Protocol: the Go SDK, the TypeScript SDK in both of its versions, and the
// Inspector. npm ci installs the latter; without them their tests are skipped.
package mcp

import (
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/cli"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/internal/sessions"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"moot": cli.Main})
}

// seatRoom is a room of two sessions and a person. There is no other agent in it, whose
// turn would come first where a session is slow to begin.
const seatRoom = `version: room/v1
name: pair
objective: find the error
policy: {use: roundrobin}
participants:
  - {id: ann, kind: human}
  - {id: dan, mode: full_auto, endpoint: {kind: session}}
  - {id: eve, mode: manual, endpoint: {kind: session}}
`

// agentRoom has two more agents, which wait for their approval.
const agentRoom = seatRoom + `  - {id: bot, mode: manual, endpoint: {kind: scripted, lines: [hello]}}
  - {id: cat, mode: manual, endpoint: {kind: scripted, lines: [hello]}}
`

// A host serves one room over HTTP.
type host struct {
	room *moot.Room
	keys *access.Keys
	url  string
	dir  string
}

func newHost(t *testing.T) *host { return hostOf(t, agentRoom) }

func hostOf(t *testing.T, yaml string) *host {
	t.Helper()
	dir := t.TempDir()
	h, err := moot.Open(moot.Config{Data: dir, Cache: filepath.Join(dir, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	x := &host{dir: dir}
	if x.keys, err = access.OpenKeys(filepath.Join(dir, "server")); err != nil {
		t.Fatal(err)
	}
	if x.room, err = h.Create(t.Context(), moot.Source{YAML: yaml}, moot.Options{}); err != nil {
		t.Fatal(err)
	}
	talks, err := sessions.Open(sessions.Config{Host: h})
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.Config{Host: h, Keys: x.keys, Sessions: talks})
	web := httptest.NewServer(s.TCPHandler(access.Hosts{}))
	x.url = web.URL
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		talks.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// token returns a bearer of a seat; "" is one for everything.
func (x *host) token(t *testing.T, seat string) string {
	t.Helper()
	g := access.Grant{Name: "local user", Scope: access.Admin}
	if seat != "" {
		g = access.Grant{Name: seat, Scope: access.Talk, Room: x.room.ID(), Seat: seat}
	}
	token, _, err := x.keys.Mint(g)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// node returns the program that runs clients in JavaScript, and skips the test
// without it or without their packages.
func node(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("node_modules/.bin/node")
	if err == nil {
		_, err = os.Stat(path)
	}
	if err == nil {
		_, err = os.Stat("node_modules/@modelcontextprotocol/inspector/package.json")
	}
	if err != nil {
		const fix = "fix: install Node.js, and run npm ci --prefix test/mcp --ignore-scripts"
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v; %s", err, fix)
		}
		t.Skipf("%v; %s", err, fix)
	}
	return path
}

// output runs a program, decodes what it prints, and returns its errors and warnings.
func output(ctx context.Context, t *testing.T, v any, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(ctx, program, args...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "MCP_STORAGE_DIR="+home)
	var warned strings.Builder
	cmd.Stderr = io.MultiWriter(os.Stderr, &warned)
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, v)
	}
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return warned.String()
}
