package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// A served is a `moot serve`.
type served struct {
	t          *testing.T
	URL, Token string
	data       string // its data folder
	end        func() // ends it and waits
}

// serve starts moot with an empty data folder.
func serve(t *testing.T) served {
	t.Helper()
	return serveAt(t, filepath.Join(t.TempDir(), "data"), "127.0.0.1:0")
}

// serveAt starts moot with a data folder at an address, until its end is called or
// the test ends.
func serveAt(t *testing.T, data, address string) served {
	t.Helper()
	path, cache := mootProgram(t)
	ctx, end := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, path, "serve", "--data", data, "--listen", address, "-o", "jsonl")
	cmd.Env = append(os.Environ(), "MOOT_CACHE="+cache)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceFunc(func() { end(); _ = cmd.Wait() })
	t.Cleanup(stop)
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var at struct{ URL, Token string }
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	token, err := os.ReadFile(at.Token)
	if err != nil {
		t.Fatal(err)
	}
	return served{t, at.URL, strings.TrimSpace(string(token)), data, stop}
}

// call calls the server as a program does.
func (s served) call(method, path, body string, out any) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, bytes.NewReader([]byte(body)))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.Token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(b, out)
	}
	if err != nil {
		s.t.Fatalf("%s %s: %s %s, %v", method, path, resp.Status, b, err)
	}
}

// asksWho asks the server who the page is; the answer begins with the status.
const asksWho = `fetch("/api/caller").then(async r => r.status + " " + await r.text(), e => "refused")`

// attacks is the page of an attacker who knows the address of the server. Its browser
// has the server's cookie. The page writes what it could read into its title.
const attacks = `<!doctype html><title>attacks</title><form method="post" target="frame" enctype="text/plain"><input name='{"name":"form","scope":"admin","x":"' value='"}'></form>
<iframe name="frame"></iframe><script type="module">
const target = %q, token = JSON.stringify({name: "attacker", scope: "admin"}), got = [];
const attempt = async (name, f) => got.push(name + ": " + await f().then(x => x, () => "refused"));
const read = (path, o) => () => fetch(target + path, {credentials: "include", ...o}).then(async r => r.type === "opaque" ? "refused" : r.status + await r.text());
await attempt("get", read("/api/caller"));
await attempt("get without CORS", read("/api/caller", {mode: "no-cors"}));
await attempt("text/plain", read("/api/tokens", {method: "POST", mode: "no-cors", body: token}));
await attempt("JSON", read("/api/tokens", {method: "POST", headers: {"Content-Type": "application/json"}, body: token}));
await attempt("delete", read("/api/tokens/t_1", {method: "DELETE"}));
await attempt("WebSocket", () => new Promise((yes, no) => { const w = new WebSocket(target.replace("http", "ws") + "/api/caller"); w.onopen = () => yes("open"); w.onerror = no; }));
await attempt("image", () => new Promise((yes, no) => { const i = new Image(); i.onload = () => yes("loaded"); i.onerror = no; i.src = target + "/api/caller"; }));
await attempt("script", () => new Promise((yes, no) => { const s = document.createElement("script"); s.onload = () => yes("loaded"); s.onerror = no; s.src = target + "/api/caller"; document.body.append(s); }));
const form = document.querySelector("form"), frame = document.querySelector("iframe");
form.action = target + "/api/tokens";
await new Promise(done => { frame.onload = done; form.submit(); });
document.title = "done " + got.filter(x => !x.endsWith(": refused")).join("; ");
</script>`

// TestServer signs a browser in, and then attacks the server with pages of other
// origins in the same browser: another port of this machine, another name of it, and
// a name that the attacker makes point to it (DNS rebinding).
func TestServer(t *testing.T) {
	s := serve(t)
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	var launch struct{ URL string }
	s.call(http.MethodPost, "/api/launches", `{"scope":"admin"}`, &launch)
	b := start(t)
	b.run(t, chromedp.Navigate(launch.URL), chromedp.WaitReady("moot-rail", chromedp.ByQuery))
	if v := b.value(t, `document.cookie + location.hash`); v != "" {
		t.Errorf("a script sees %q", v)
	}
	if v := b.value(t, asksWho); !strings.HasPrefix(v, "200 ") || !strings.Contains(v, `"via":"page"`) {
		t.Errorf("the page is answered %s", v)
	}
	attacker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, attacks, s.URL)
	}))
	defer attacker.Close()
	for _, page := range []string{attacker.URL, strings.Replace(attacker.URL, "127.0.0.1", "localhost", 1)} {
		b.run(t, chromedp.Navigate(page), chromedp.Poll(`document.title.startsWith("done")`, nil))
		if v := b.value(t, `document.title`); v != "done" {
			t.Errorf("a page of %s could: %s", page, v)
		}
	}
	rebound := "http://rebind.example:" + at.Port() + "/api/caller"
	b.run(t, chromedp.Navigate(rebound))
	if v := b.value(t, `document.body.innerText`); !strings.Contains(v, "API-HOST") {
		t.Errorf("%s shows %s", rebound, v)
	}
	var tokens []any
	if s.call(http.MethodGet, "/api/tokens", "", &tokens); len(tokens) > 0 {
		t.Errorf("an attacker has made tokens: %v", tokens)
	}
}
