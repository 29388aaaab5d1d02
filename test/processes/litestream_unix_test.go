//go:build unix

package processes

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// writingAgent answers ten times a second, so that a room goes on while it is copied.
var writingAgent = strings.Replace(shellAgent, "  printf", "  sleep 0.1\n  printf", 1)

// TestLitestream copies the changes of a data folder with Litestream, with the configuration
// and the commands of docs/hosting.md. It kills Litestream and the server while a room runs,
// and restores what was copied. Each event that was stored before a sync is there, and a room
// that lacks later ones is intact without moot.heads, and LOG-SHORT with it.
func TestLitestream(t *testing.T) {
	needLitestream(t)
	t.Parallel()
	c := newCopied(t)
	copier := c.replicate()
	ended := c.run()
	server := c.serve()
	shown := c.start("run", "long.yaml", "--headless", "-o", "jsonl")
	lines := shown.some(t, 30)
	long := roomOf(t, lines)
	c.shell(c.documented("sh", "litestream sync "))
	shown.some(t, 5) // of these Litestream may have copied some
	for _, p := range []*running{copier, server.running} {
		_ = p.Process.Kill()
		p.end()
	}
	shown.end()

	dir := c.restored("killed", false)
	c.intact(dir, ended, long)
	if got, want := len(chain(t, dir, ended)), len(chain(t, c.data(), ended)); got != want {
		t.Errorf("%d of %d events of the room that had ended", got, want)
	}
	last, err := room.UnmarshalEvent([]byte(lines[len(lines)-1]))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(chain(t, dir, long)); int64(got) < last.Seq {
		t.Errorf("%d events were copied, and %d were stored before the sync", got, last.Seq)
	}

	c.goOn(long) // without Litestream
	later := c.run()
	dir = c.restored("later", false)
	c.intact(dir, ended, long)
	if got, want := len(chain(t, dir, long)), len(chain(t, c.data(), long)); got >= want {
		t.Errorf("%d events were copied of %d, and Litestream did not run", got, want)
	}
	dir = c.restored("heads", true)
	c.says(0, " events intact", "transcript", "verify", ended, "--data", dir)
	for _, id := range []string{long, later} {
		c.says(app.ExitInput, "LOG-SHORT", "transcript", "verify", id, "--data", dir)
	}
	c.says(app.ExitFailure, "damaged", "ls", "--data", dir)

	c.replicate()
	for limit := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		dir = c.restored("", true)
		if slices.Equal(chain(t, dir, later), chain(t, c.data(), later)) {
			break
		}
		if time.Now().After(limit) {
			t.Fatal("Litestream does not go on")
		}
	}
	c.intact(dir, ended, long, later)
	if !slices.Equal(chain(t, dir, long), chain(t, c.data(), long)) {
		t.Error("the end of the room that had gone on was not copied")
	}
}

// needLitestream skips a test where Litestream is not installed.
func needLitestream(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("litestream"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("Litestream is not installed; .ci/run has its version")
	}
}

// A copied is a data folder whose changes Litestream copies.
type copied struct {
	*workbench
	page  string            // docs/hosting.md
	paths *strings.Replacer // from those of the page to those of the test
}

func newCopied(t *testing.T) *copied {
	t.Helper()
	w := newWorkbench(t, map[string]string{
		"room.yaml": embeddedRoom, "long.yaml": strings.Replace(threeAgents, "maxTurns: 20", "maxTurns: 5000", 1), "agent.sh": writingAgent,
	})
	page, err := os.ReadFile("../../docs/hosting.md")
	if err != nil {
		t.Fatal(err)
	}
	c := &copied{workbench: w, page: string(page)}
	c.paths = strings.NewReplacer(
		"/srv/rooms", w.data(), "/mnt/backup", filepath.Join(w.dir, "copies"),
		"/etc/litestream.yml", filepath.Join(w.dir, "litestream.yml"), "/run/litestream", w.dir,
	)
	config := c.documented("yaml", "# /etc/litestream.yml")
	if err := os.WriteFile(filepath.Join(w.dir, "litestream.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// documented returns the block of the page that begins with text, for the folders of the test.
func (c *copied) documented(language, text string) string {
	c.t.Helper()
	_, rest, found := strings.Cut(c.page, "```"+language+"\n"+text)
	block, _, ends := strings.Cut(text+rest, "\n```")
	if !found || !ends {
		c.t.Fatalf("the page has no block %q", text)
	}
	return c.paths.Replace(block)
}

// shell runs commands of the page.
func (c *copied) shell(commands string) {
	c.t.Helper()
	cmd := exec.Command("sh", "-ec", commands)
	cmd.Dir, cmd.Env = c.dir, c.env
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("%s\n%v\n%s", commands, err, out)
	}
}

// says runs moot, and checks its exit code and a part of what it prints.
func (c *copied) says(code int, part string, args ...string) {
	c.t.Helper()
	cmd := exec.Command("moot", args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, _ := cmd.CombinedOutput() // the code says it
	if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(string(out), part) {
		c.t.Errorf("moot %s: exit code %d, want %d with %q\n%s", strings.Join(args, " "), got, code, part, out)
	}
}

// replicate starts Litestream, and waits until it takes requests.
func (c *copied) replicate() *running {
	c.t.Helper()
	socket := filepath.Join(c.dir, "socket")
	_ = os.Remove(socket) // of one that was killed
	cmd := exec.Command("sh", "-c", "exec "+c.documented("sh", "litestream replicate "))
	cmd.Dir, cmd.Env = c.dir, c.env
	r := c.begin(cmd)
	for limit := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			return r
		}
		if time.Now().After(limit) {
			c.t.Fatalf("Litestream does not start\n%s", r.stderr)
		}
	}
}

// run runs a room to its end, and returns its id.
func (c *copied) run() string {
	c.t.Helper()
	r := c.start("run", "room.yaml", "--headless", "-o", "jsonl")
	id := roomOf(c.t, r.some(c.t, 1))
	if code := r.end(); code != app.ExitLimit {
		c.t.Fatalf("exit code %d\n%s", code, r.stderr)
	}
	return id
}

// goOn has a room go on for some events, and pauses it.
func (c *copied) goOn(id string) {
	c.t.Helper()
	r := c.start("run", "--room", id, "--headless", "-o", "jsonl")
	r.some(c.t, 10)
	_ = r.Process.Signal(os.Interrupt)
	if code := r.end(); code != app.ExitInterrupted {
		c.t.Fatalf("exit code %d\n%s", code, r.stderr)
	}
}

// some reads n lines.
func (r *running) some(t *testing.T, n int) (lines []string) {
	t.Helper()
	for len(lines) < n && r.lines.Scan() {
		lines = append(lines, r.lines.Text())
	}
	if len(lines) < n {
		t.Fatalf("%d lines of %d\n%s", len(lines), n, r.stderr)
	}
	return lines
}

// restored restores what was copied into a new folder, with the heads of the data folder or
// without them. A folder without a name replaces the last one.
func (c *copied) restored(name string, heads bool) string {
	c.t.Helper()
	dir := filepath.Join(c.dir, "restored"+name)
	if err := os.RemoveAll(dir); err != nil {
		c.t.Fatal(err)
	}
	there := strings.NewReplacer("/srv/restored", dir)
	c.shell(there.Replace(c.documented("sh", "mkdir -m 700 /srv/restored")))
	if heads {
		c.shell(there.Replace(c.documented("sh", "cp /srv/rooms/moot.heads ")))
	}
	return dir
}

// intact checks that a folder has these rooms and no others, that nothing in them is damaged,
// and that they are the rooms of the data folder or begin as those do.
func (c *copied) intact(dir string, rooms ...string) {
	c.t.Helper()
	c.says(0, " rooms intact", "doctor", "--no-agents", "--data", dir)
	if got := roomsOf(c.t, dir); !slices.Equal(got, slices.Sorted(slices.Values(rooms))) {
		c.t.Errorf("%s has the rooms %v, want %v", dir, got, rooms)
	}
	for _, id := range rooms {
		c.says(0, " events intact", "transcript", "verify", id, "--data", dir)
		got, want := chain(c.t, dir, id), chain(c.t, c.data(), id)
		if len(got) == 0 || len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
			c.t.Errorf("room %s was not copied as it is", id)
		}
	}
}

// roomsOf returns the rooms of a folder, sorted.
func roomsOf(t *testing.T, dir string) (ids []string) {
	t.Helper()
	db := openAt(t, dir)
	defer db.Close()
	infos, err := db.Rooms(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		ids = append(ids, info.Room)
	}
	slices.Sort(ids)
	return ids
}

// chain returns the hashes of the events of a room, none if there is no room.
func chain(t *testing.T, dir, id string) (hashes [][32]byte) {
	t.Helper()
	db := openAt(t, dir)
	defer db.Close()
	for e, err := range log.Scan(t.Context(), db, id, log.Pos{}) {
		if err != nil {
			return nil
		}
		hashes = append(hashes, e.Hash)
	}
	return hashes
}

func openAt(t *testing.T, dir string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return db
}
