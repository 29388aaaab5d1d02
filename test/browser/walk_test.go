package browser

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestPolicyWalk follows "A policy of your own" in docs/page.md: it runs the commands, of
// which TestDocs compares what they print, and then the steps on the page.
func TestPolicyWalk(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "page.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## A policy of your own\n")
	commands, steps, ok := strings.Cut(section, "\n1. Open the room `review`.")
	if !ok {
		t.Fatal("the page has no such section")
	}
	b := start(t) // skips the test if there is no browser
	w := newWalk(t)
	w.run(commands)

	s := w.served()
	var rooms []struct{ Room, Name string }
	if s.call(http.MethodGet, "/api/rooms", "", &rooms); len(rooms) != 1 || rooms[0].Name != "review" {
		t.Fatalf("the rooms are %+v", rooms)
	}
	id := rooms[0].Room
	s.signIn(b, "admin")
	b.run(t, chromedp.Navigate(s.URL+"/rooms/"+id))
	b.until(t, `[...document.querySelectorAll(".roster moot-policy option")].some((o) => o.text === "chair")`)
	b.choosePolicy(t, "chair")
	for _, title := range []string{"Chair", "Every so many turns"} {
		if v := b.value(t, `[...document.querySelectorAll(".roster .setting > label")].map((l) => l.textContent).join()`); !strings.Contains(v, title) || !strings.Contains(steps, `"`+title+`"`) {
			t.Errorf("the form has %s, and no %q", v, title)
		}
	}
	b.set(t, "chair", "dba")
	b.set(t, "every", "5")
	b.run(t, chromedp.Click(previewPolicy, chromedp.ByQuery))
	const differ = "3 of 7 decisions would differ"
	if !strings.Contains(steps, differ) {
		t.Errorf("the documentation does not say %q", differ)
	}
	b.until(t, `document.querySelector("dialog.preview")?.textContent.includes("`+differ+`")`)
	b.screenshot(t, "policy-walk")
	b.run(t, chromedp.Click(`dialog .preview-actions .primary`, chromedp.ByQuery))
	b.until(t, said("chair decides from the next round on"))
	b.run(t, chromedp.SendKeys("moot-dock textarea", "What is the plan?", chromedp.ByQuery), chromedp.Click("moot-dock button[type=submit]", chromedp.ByQuery))
	b.until(t, `document.querySelector("moot-timeline").textContent.includes("To sum up: in batches, on Friday.")`)
	var shown struct {
		Policy struct {
			Name     string
			Settings struct {
				Chair string
				Every int
			}
		} `json:"policy_in_force"`
	}
	if s.call(http.MethodGet, "/api/rooms/"+id, "", &shown); shown.Policy.Name != "chair" || shown.Policy.Settings.Chair != "dba" || shown.Policy.Settings.Every != 5 {
		t.Errorf("the room has the policy %+v", shown.Policy)
	}
	var turn struct{ Participant, Reason string }
	if s.call(http.MethodGet, "/api/rooms/"+id+"/turns/5", "", &turn); turn.Participant != "dba" || turn.Reason != "dba has the chair" {
		t.Errorf("turn 5: %+v", turn)
	}
}

// A walk runs what the documentation shows, in a folder of its own.
type walk struct {
	t             *testing.T
	work, address string
	env           []string
}

// listenLow listens on a port below those that the system chooses for other listeners and
// connections, so that none of them gets it while nothing listens there.
func listenLow(t *testing.T) net.Listener {
	t.Helper()
	for range 1000 {
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(10_000))); err == nil {
			return l
		}
	}
	t.Fatal("there is no free port")
	return nil
}

func newWalk(t *testing.T) *walk {
	t.Helper()
	path, cache := mootProgram(t)
	l := listenLow(t)
	w := &walk{t: t, work: t.TempDir(), address: l.Addr().String()}
	l.Close()
	goCache, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	caches := strings.Fields(string(goCache))
	w.env = append(os.Environ(), "PATH="+filepath.Dir(path)+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+filepath.Join(w.work, "home"),
		"XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "MOOT_DATA=", "MOOT_CONFIG=", "MOOT_CACHE="+cache, "GOCACHE="+caches[0], "GOMODCACHE="+caches[1])
	t.Cleanup(func() {
		_ = w.command("kill $(cat serve.pid); while kill -0 $(cat serve.pid); do sleep 0.1; done").Run()
	})
	return w
}

// run writes the files of a text and runs its commands, in their order.
func (w *walk) run(text string) {
	w.t.Helper()
	for len(text) > 0 {
		_, rest, _ := strings.Cut(text, "\n```")
		fence, rest, _ := strings.Cut(rest, "\n")
		block, rest, _ := strings.Cut(rest, "\n```")
		text = rest
		if _, file, named := strings.Cut(fence, " "); named {
			if err := os.WriteFile(filepath.Join(w.work, file), []byte(block+"\n"), 0o644); err != nil {
				w.t.Fatal(err)
			}
			continue
		}
		for line := range strings.SplitSeq(block, "\n") {
			if command, ok := strings.CutPrefix(line, "$ "); ok && fence == "console" {
				w.do(command)
			}
		}
	}
}

func (w *walk) do(command string) {
	w.t.Helper()
	out, err := os.Create(filepath.Join(w.work, "out.log")) // a pipe would stay open for the server
	if err != nil {
		w.t.Fatal(err)
	}
	defer out.Close()
	cmd := w.command(strings.ReplaceAll(command, "127.0.0.1:8420", w.address))
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		w.t.Fatalf("$ %s\n%s%v", command, text, err)
	}
}

func (w *walk) command(text string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", text)
	cmd.Dir, cmd.Env = w.work, w.env
	return cmd
}

// served returns the server that a command has started.
func (w *walk) served() served {
	w.t.Helper()
	data := filepath.Join(w.work, "home", ".local", "share", "moot")
	token, err := os.ReadFile(filepath.Join(data, "server", "token"))
	if err != nil {
		w.t.Fatal(err)
	}
	return served{t: w.t, URL: "http://" + w.address, Token: strings.TrimSpace(string(token)), data: data}
}
