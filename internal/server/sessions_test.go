package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/internal/sessions"
	"github.com/folkmoot/moot/room"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "callback-agent" {
		if err := callbackAgent(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	_ = os.RemoveAll(compiled()) // a folder for temporary files
	os.Exit(code)
}

// compiled is the cache of compiled policies of all tests, because the compiler takes
// seconds under the race detector.
var compiled = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "moot-server-")
	if err != nil {
		panic(err)
	}
	return dir
})

var callbackPattern = regexp.MustCompile(`send_agent_message\("([^"]+)", RESULTS\)`)

// callbackAgent is an agent of kind command. It does what a message asks, as an agent
// with the tool send_agent_message does: it sends a result to the session that the
// message names. Its folder has the address and the bearer of its seat.
func callbackAgent(in io.Reader, out io.Writer) error {
	prompt, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	called := callbackPattern.FindSubmatch(prompt)
	if called == nil {
		_, err := io.WriteString(out, "nothing to call back\n")
		return err
	}
	text, err := os.ReadFile("credential.json")
	if err != nil {
		return err
	}
	var c client.Config
	if err := json.Unmarshal(text, &c); err != nil {
		return err
	}
	body := api.SessionMessage{Message: "Results: 42", Source: "user", From: "r_forged.bot"}
	req, err := http.NewRequest(http.MethodPost, c.URL+"/api/sessions/"+string(called[1])+"/messages", bytes.NewReader(must(json.Marshal(body))))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s, %w", resp.Status, answer, err)
	}
	_, err = io.WriteString(out, "sent\n")
	return err
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// office is a server with sessions of agents of several profiles.
type office struct {
	t    *testing.T
	host *moot.Host
	keys *access.Keys
	*sessions.Sessions
	url  string
	root string
	user *client.Client
}

func newOffice(t *testing.T, change func(*sessions.Config)) *office {
	t.Helper()
	dir, root := t.TempDir(), must(filepath.EvalSymlinks(t.TempDir()))
	h, err := moot.Open(moot.Config{Data: dir, Cache: compiled()})
	if err != nil {
		t.Fatal(err)
	}
	profile := func(name, endpoint string) config.Profile {
		return config.Profile{Name: name, Endpoint: json.RawMessage(endpoint), Dir: root}
	}
	cfg := sessions.Config{Host: h, Path: filepath.Join(dir, "server", "sessions.json"), Settings: config.Settings{
		Server: config.Server{RootList: root, Agent: "talker"},
		Profiles: []config.Profile{
			profile("talker", `{"kind":"scripted","lines":["one","two","three"]}`),
			profile("broken", `{"kind":"scripted","script":"broken.txt"}`),
			profile("caller", fmt.Sprintf(`{"kind":"command","command":[%q,"callback-agent"]}`, must(os.Executable()))),
		},
	}}
	if change != nil {
		change(&cfg)
	}
	if err := os.WriteFile(filepath.Join(root, "broken.txt"), []byte("fail It does not work.\nfail Again.\nfail Again.\nfail Again.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := &office{t: t, host: h, keys: must(access.OpenKeys(dir + "/server")), root: root}
	if x.Sessions, err = sessions.Open(cfg); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(nil)
	x.url = web.URL
	web.Config.Handler = server.New(server.Config{Host: h, Keys: x.keys, Sessions: x.Sessions}).TCPHandler(access.Hosts{})
	x.user = client.New(client.Config{URL: web.URL, Token: must(x.keys.AdminToken())})
	t.Cleanup(func() {
		web.Close()
		x.Sessions.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// as returns a client with the bearer of a seat.
func (x *office) as(room, seat string) *client.Client {
	token, _, err := x.keys.Mint(access.Grant{Name: seat, Scope: access.Talk, Room: room, Seat: seat})
	if err != nil {
		x.t.Fatal(err)
	}
	return client.New(client.Config{URL: x.url, Token: token})
}

func (x *office) create(c *client.Client, n api.NewSession) string {
	x.t.Helper()
	var made api.SessionCreated
	if n.Folder == "" {
		n.Folder = x.root
	}
	if err := c.Call(x.t.Context(), http.MethodPost, "/api/sessions", n, &made); err != nil {
		x.t.Fatal(err)
	}
	return made.Session
}

func (x *office) post(c *client.Client, id string, m api.SessionMessage) (sent api.SessionMessageSent, code string) {
	return sent, codeOf(c.Call(x.t.Context(), http.MethodPost, "/api/sessions/"+id+"/messages", m, &sent))
}

// state waits until the session is idle.
func (x *office) state(id string) (s api.SessionState) {
	x.t.Helper()
	if err := x.user.Call(x.t.Context(), http.MethodGet, "/api/sessions/"+id+"/state?wait=1m", nil, &s); err != nil {
		x.t.Fatal(err)
	}
	return s
}

// await returns the first message of a room that match accepts.
func (x *office) await(id string, match func(room.Message) bool) room.Message {
	x.t.Helper()
	for u, err := range x.host.Follow(x.t.Context(), id, 0, room.Internal) {
		if err != nil {
			x.t.Fatal(err)
		}
		if u.Event == nil {
			continue
		}
		if b, ok := u.Event.Body.(room.MessagePosted); ok && match(b.Message) {
			return b.Message
		}
	}
	x.t.Fatalf("room %s ended without the message", id)
	return room.Message{}
}

// TestSessionWorkflow is the workflow of the note: a seat of a room creates a session
// with a message, polls it until it is idle, and is called back by it. The session's
// agent is a real process with the bearer of its seat.
func TestSessionWorkflow(t *testing.T) {
	x := newOffice(t, nil)
	lead, err := x.host.Create(t.Context(), moot.Source{YAML: leadRoom, Dir: x.root}, moot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	me := lead.ID() + ".lead"
	agent := x.as(lead.ID(), "lead")
	id := x.create(agent, api.NewSession{Agent: "caller"})
	grant := access.Grant{Name: "seat", Scope: access.Talk, Room: id, Seat: "agent"}
	token, _, err := x.keys.Mint(grant)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(x.root, "credential.json"), must(json.Marshal(client.Config{URL: x.url, Token: token})), 0o600); err != nil {
		t.Fatal(err)
	}
	sent, code := x.post(agent, id, api.SessionMessage{Message: fmt.Sprintf("Analyze. When finished, call send_agent_message(%q, RESULTS).", me), Source: "agent", From: "r_forged.seat"})
	if code != "" || sent.Message == "" || sent.Status != "dispatched" {
		t.Fatalf("%+v, %s", sent, code)
	}
	if s := x.state(id); s.Status != "idle" || s.Folder != x.root || !s.Active || s.Last == nil || s.Last.Role != "assistant" || s.Last.Content != "sent" || s.Last.Time.IsZero() {
		t.Errorf("%+v, last message %+v", s, s.Last)
	}
	asked := x.await(id, func(m room.Message) bool { return m.ID == sent.Message })
	if asked.Source != "agent" || asked.FromSession != me {
		t.Errorf("the message is of source %q and session %q", asked.Source, asked.FromSession)
	}
	back := x.await(lead.ID(), func(m room.Message) bool { return m.Text == "Results: 42" })
	if back.Source != "agent" || back.FromSession != id || back.To != "lead" {
		t.Errorf("called back by session %q, source %q, to %q", back.FromSession, back.Source, back.To)
	}
}

const leadRoom = `version: room/v1
name: lead
objective: test
policy: {use: inbox}
participants:
  - id: lead
    mode: full_auto
    endpoint: {kind: scripted, lines: [noted, noted again, noted once more]}
`

// TestSessions checks the routes without agents that call them.
func TestSessions(t *testing.T) {
	x := newOffice(t, nil)
	id := x.create(x.user, api.NewSession{Message: "begin"})
	if s := x.state(id); s.Status != "idle" || s.Last == nil || s.Last.Content != "one" {
		t.Errorf("%+v, %+v", s, s.Last)
	}
	var sent api.SessionMessageSent
	if err := x.user.Call(t.Context(), http.MethodPost, "/api/sessions/"+id+"/messages?wait=1m", api.SessionMessage{Message: "go on", Source: "applet"}, &sent); err != nil {
		t.Fatal(err)
	}
	if sent.Status != "dispatched" || sent.State == nil || sent.State.Status != "idle" || sent.State.Last.Content != "two" {
		t.Errorf("%+v", sent)
	}
	if m := x.await(id, func(m room.Message) bool { return m.ID == sent.Message }); m.Source != "applet" || m.FromSession != "" || m.To != "agent" {
		t.Errorf("%+v", m)
	}
	token, _, err := x.keys.Mint(access.Grant{Name: "ci", Scope: access.Control})
	if err != nil {
		t.Fatal(err)
	}
	ci := client.New(client.Config{URL: x.url, Token: token})
	if err := ci.Call(t.Context(), http.MethodPost, "/api/sessions/"+id+"/messages", api.SessionMessage{Message: "the build is green", Source: "applet"}, &sent); err != nil {
		t.Fatal(err)
	}
	if m := x.await(id, func(m room.Message) bool { return m.ID == sent.Message }); m.Applet != "ci" {
		t.Errorf("%+v", m)
	}
	own := x.as(id, "agent")
	var who api.Caller
	if err := own.Call(t.Context(), http.MethodGet, "/api/caller", nil, &who); err != nil || who.Session != id {
		t.Errorf("%+v, %v", who, err)
	}
	for _, alias := range []string{id, id + ".agent"} {
		if _, code := x.post(own, alias, api.SessionMessage{Message: "x", Source: "agent"}); code != "SESSION-SELF" {
			t.Errorf("its own session: %q", code)
		}
	}
	for _, unknown := range []string{"r_none", id + ".other", "x", "r_none.agent"} {
		if _, code := x.post(x.user, unknown, api.SessionMessage{Message: "x", Source: "user"}); code != "SESSION-UNKNOWN" {
			t.Errorf("%s: %q", unknown, code)
		}
	}
	for _, bad := range []api.SessionMessage{{}, {Message: "x", Source: "system"}} {
		if _, code := x.post(x.user, id, bad); code != "API-REQUEST" {
			t.Errorf("%+v: %q", bad, code)
		}
	}
	if err := x.user.Call(t.Context(), http.MethodDelete, "/api/sessions/"+id, nil, nil); err != nil {
		t.Fatal(err)
	}
	if s := x.state(id); s.Ended == "" || s.Status != "idle" {
		t.Errorf("%+v", s)
	}
	if _, code := x.post(x.user, id, api.SessionMessage{Message: "x"}); code != "ROOM-OVER" {
		t.Errorf("a session that has ended: %q", code)
	}
}

// TestSessionFolders checks that no folder outside the roots is used, and that the
// answer is the same for folders that exist and that do not.
func TestSessionFolders(t *testing.T) {
	x := newOffice(t, nil)
	outside := t.TempDir()
	if err := os.Mkdir(filepath.Join(x.root, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(x.root, "link")); err != nil {
		t.Skip("symbolic links cannot be made here:", err)
	}
	if err := os.Symlink("inside", filepath.Join(x.root, "inner")); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{filepath.Join(x.root, "inside"), filepath.Join(x.root, "inner"), x.root} {
		if s := x.state(x.create(x.user, api.NewSession{Folder: folder})); s.Folder != folder {
			t.Errorf("%s: %+v", folder, s)
		}
	}
	for _, folder := range []string{
		outside, filepath.Join(outside, "none"), filepath.Join(x.root, "link"), filepath.Join(x.root, "none"), filepath.Join(x.root, "broken.txt"),
		x.root + "/../" + filepath.Base(outside), x.root + "/inside/..", x.root + "-other", "inside", ".", "/", x.root + "/inside\x00",
	} {
		err := x.user.Call(t.Context(), http.MethodPost, "/api/sessions", api.NewSession{Folder: folder}, nil)
		if codeOf(err) != "SESSION-FOLDER" {
			t.Errorf("%q: %v", folder, err)
		}
	}
	for _, n := range []api.NewSession{{Agent: "none"}, {Agent: "talker", Model: "large"}} {
		n.Folder = x.root
		if got := codeOf(x.user.Call(t.Context(), http.MethodPost, "/api/sessions", n, nil)); got != "SESSION-AGENT" {
			t.Errorf("%+v: %q", n, got)
		}
	}
}

// TestSessionTree checks who may address whom: a seat knows its own tree, and the
// sessions that people have created.
func TestSessionTree(t *testing.T) {
	x := newOffice(t, nil)
	create := func() *moot.Room {
		return must(x.host.Create(t.Context(), moot.Source{YAML: leadRoom, Dir: x.root}, moot.Options{}))
	}
	a, b := create().ID(), create().ID()
	child := x.create(x.as(a, "lead"), api.NewSession{})
	grandchild := x.create(x.as(child, "agent"), api.NewSession{})
	public := x.create(x.user, api.NewSession{})
	for _, c := range []struct {
		name, room, seat, to, code string
	}{
		{"to its creator's creator", grandchild, "agent", a + ".lead", ""},
		{"to its creator", grandchild, "agent", child, ""},
		{"to a session that a person has created", b, "lead", public, ""},
		{"to a session of another tree", b, "lead", child, "SESSION-UNKNOWN"},
		{"to a seat of another room", b, "lead", a + ".lead", "SESSION-UNKNOWN"},
		{"to the only agent of another room", b, "lead", a, "SESSION-UNKNOWN"},
		{"from a person's session to a seat of a room", public, "agent", a + ".lead", "SESSION-UNKNOWN"},
	} {
		if _, code := x.post(x.as(c.room, c.seat), c.to, api.SessionMessage{Message: c.name, Source: "agent"}); code != c.code {
			t.Errorf("%s: %q, want %q", c.name, code, c.code)
		}
		got := codeOf(x.as(c.room, c.seat).Call(t.Context(), http.MethodGet, "/api/sessions/"+c.to+"/state", nil, nil))
		if got != c.code {
			t.Errorf("the state %s: %q, want %q", c.name, got, c.code)
		}
	}
	if got := codeOf(x.as(b, "lead").Call(t.Context(), http.MethodDelete, "/api/sessions/"+public, nil, nil)); got != "SESSION-UNKNOWN" {
		t.Errorf("a seat ends a session that it has not created: %q", got)
	}
	for depth := 3; depth <= 5; depth++ {
		grandchild = x.create(x.as(grandchild, "agent"), api.NewSession{})
	}
	err := x.as(grandchild, "agent").Call(t.Context(), http.MethodPost, "/api/sessions", api.NewSession{Folder: x.root}, nil)
	if codeOf(err) != "SESSION-DEPTH" {
		t.Errorf("the sixth level: %v", err)
	}
	if _, err := x.host.Do(t.Context(), a, moot.Command{Actor: room.ActorHost, Do: room.Stop{}}); err != nil {
		t.Fatal(err)
	}
	for range x.host.Follow(t.Context(), grandchild, 0, room.Internal) { // it ends with the tree
	}
	if s := x.state(grandchild); !strings.Contains(s.Ended, "creator") {
		t.Errorf("%+v", s)
	}
}

// TestSessionScopes checks what tokens without a seat may do.
func TestSessionScopes(t *testing.T) {
	x := newOffice(t, nil)
	lead := must(x.host.Create(t.Context(), moot.Source{YAML: leadRoom, Dir: x.root}, moot.Options{})).ID()
	public := x.create(x.user, api.NewSession{})
	for _, c := range []struct {
		scope                      access.Scope
		room                       string
		create, session, seat, end string
	}{
		{access.Talk, "", "API-FORBIDDEN", "", "SESSION-UNKNOWN", "SESSION-UNKNOWN"},
		{access.Talk, lead, "API-FORBIDDEN", "", "SESSION-UNKNOWN", "SESSION-UNKNOWN"},
		{access.Control, lead, "API-FORBIDDEN", "", "", "SESSION-UNKNOWN"},
		{access.Control, "", "", "", "", ""},
	} {
		token, _, err := x.keys.Mint(access.Grant{Name: "test", Scope: c.scope, Room: c.room})
		if err != nil {
			t.Fatal(err)
		}
		user := client.New(client.Config{URL: x.url, Token: token})
		if got := codeOf(user.Call(t.Context(), http.MethodPost, "/api/sessions", api.NewSession{Folder: x.root}, nil)); got != c.create {
			t.Errorf("%v %q creates a session: %q", c.scope, c.room, got)
		}
		if _, got := x.post(user, public, api.SessionMessage{Message: "x"}); got != c.session {
			t.Errorf("%v %q writes to a session: %q", c.scope, c.room, got)
		}
		if _, got := x.post(user, lead+".lead", api.SessionMessage{Message: "x"}); got != c.seat {
			t.Errorf("%v %q writes to a seat: %q", c.scope, c.room, got)
		}
		if got := codeOf(user.Call(t.Context(), http.MethodDelete, "/api/sessions/"+public, nil, nil)); got != c.end {
			t.Errorf("%v %q ends a session: %q", c.scope, c.room, got)
		}
	}
}

// TestSessionErrors checks that the creator of a session is told of its failures.
func TestSessionErrors(t *testing.T) {
	x := newOffice(t, nil)
	lead := must(x.host.Create(t.Context(), moot.Source{YAML: leadRoom, Dir: x.root}, moot.Options{}))
	id := x.create(x.as(lead.ID(), "lead"), api.NewSession{Agent: "broken", Message: "begin"})
	m := x.await(lead.ID(), func(m room.Message) bool { return strings.Contains(m.Text, "failed") })
	if m.FromSession != id || m.To != "lead" || !strings.Contains(m.Text, "It does not work") {
		t.Errorf("%+v", m)
	}
	if s := x.state(id); s.Status != "error" {
		t.Errorf("%+v", s)
	}
}

// TestSessionRate checks that a sender cannot send without end.
func TestSessionRate(t *testing.T) {
	x := newOffice(t, nil)
	id, other := x.create(x.user, api.NewSession{}), x.create(x.user, api.NewSession{})
	agent := x.as(other, "agent")
	refused := ""
	for range 40 {
		if _, code := x.post(agent, id, api.SessionMessage{Message: "x", Source: "agent"}); code != "" {
			refused = code
			break
		}
	}
	if refused != "SESSION-RATE" {
		t.Errorf("40 messages: %q", refused)
	}
	if _, code := x.post(x.user, id, api.SessionMessage{Message: "x"}); code != "" {
		t.Errorf("another sender: %q", code)
	}
}

// TestSessionTTL checks that a session without messages ends, also with the next
// process.
func TestSessionTTL(t *testing.T) {
	x := newOffice(t, func(c *sessions.Config) { c.TTL = time.Millisecond })
	id := x.create(x.user, api.NewSession{})
	for range x.host.Follow(t.Context(), id, 0, room.Internal) {
	}
	if s := x.state(id); s.Ended == "" {
		t.Errorf("%+v", s)
	}
}
