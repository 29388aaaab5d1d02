package seatcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const hookLine = `/bin/moot hook run claude --room r_1 --as ann`

// TestWithHook checks that the hook joins the settings of a client, once, and that
// settings which are no JSON stay as they are.
func TestWithHook(t *testing.T) {
	const own = `{"hooks":[{"type":"command","command":"` + hookLine + `","timeout":600}]}`
	for before, want := range map[string]string{
		"":                          `{"hooks":{"Stop":[` + own + `]}}`,
		` {"model": "x<y"} `:        `{"hooks":{"Stop":[` + own + `]},"model":"x<y"}`,
		`{"hooks":{"Stop":[]}}`:     `{"hooks":{"Stop":[` + own + `]}}`,
		`{"hooks":{"Start":[{}]}}`:  `{"hooks":{"Start":[{}],"Stop":[` + own + `]}}`,
		`{"hooks":{"Stop":[{"a"`:    "",
		`[]`:                        "",
		`{"hooks":[]}`:              "",
		`{"hooks":{"Stop":{}}}`:     "",
		`{"hooks":{"Stop":["x"]}} `: "",
		`{"hooks":{"Stop":[{"hooks":[{"command":"a"}]},{"hooks":[{"command":"moot hook run codex --room r --as b"}]}]}}`: `{"hooks":{"Stop":[{"hooks":[{"command":"a"}]},` + own + `]}}`,
	} {
		after, err := withHook([]byte(before), hookLine)
		if (err != nil) != (want == "") {
			t.Errorf("%s: %v", before, err)
			continue
		}
		var got bytes.Buffer
		if want != "" && json.Compact(&got, after) != nil || got.String() != want {
			t.Errorf("%s:\ngot  %s\nwant %s", before, got.String(), want)
		}
	}
}

// FuzzWithHook checks that the result is JSON with one hook of moot, to which adding
// the hook again changes nothing.
func FuzzWithHook(f *testing.F) {
	f.Add(`{"hooks":{"Stop":[{"hooks":[{"command":"a"}]}]}}`)
	f.Add(`{"hooks":null,"a":[1,2]}`)
	f.Fuzz(func(t *testing.T, before string) {
		after, err := withHook([]byte(before), hookLine)
		if err != nil {
			return
		}
		again, err := withHook(after, hookLine)
		if err != nil || !bytes.Equal(after, again) || !json.Valid(after) || strings.Count(string(after), hookLine) != 1 && !strings.Contains(before, "hook run") {
			t.Errorf("%s\nthen %s\n%v", after, again, err)
		}
	})
}

// TestReadPasted checks where a pasted answer ends.
func TestReadPasted(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		".\n":                      "",
		"one":                      "one",
		"one\r\n two\r\n.\r\nnext": "one\r\n two",
		"one\n..\n. \nend\n.\nx":   "one\n..\n. \nend",
	} {
		if got, err := readPasted(strings.NewReader(in)); got != want || err != nil {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

// pluginScript plays opencode: it loads the plugin, and tells it that sessions are idle.
const pluginScript = `
import { MootSeat } from "./moot-seat.mjs"
const log = (...words) => console.log(words.join(" "))
const client = {
	session: {
		get: async ({ path }) => path.id === "gone" ? { error: {} } : { data: { id: path.id, parentID: path.id === "child" ? "main" : undefined } },
		promptAsync: async ({ path, body }) => { log("prompt", path.id, body.parts[0].text); setTimeout(() => idle("main"), 10); return {} },
	},
	tui: { showToast: async ({ body }) => log("toast", body.message) },
}
const hooks = await MootSeat({ client })
const idle = (sessionID, type = "session.idle") => hooks.event({ event: { type, properties: { sessionID } } })
await idle("main", "session.error")
await idle("child")
await idle("gone")
await idle("first")
await idle("main")
`

// TestPluginOfOpencode runs the plugin with a command that gives no turn, then a turn,
// and then says that the room has ended. It is given to the session that was idle last,
// and to no subagent; the command is run once at a time.
func TestPluginOfOpencode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("the plugin of opencode is JavaScript: install Node.js to test it")
	}
	dir := t.TempDir()
	plugin, err := pluginOf([]string{"sh", filepath.Join(dir, "moot.sh"), `it's "quoted"`})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"moot-seat.mjs": string(plugin), "main.mjs": pluginScript,
		"moot.sh": `cd "$(dirname "$0")"; mkdir lock || exit 1; echo run >>runs; sleep 0.1
case $(wc -l <runs) in
*1) echo '{"again":true}' ;;
*2) printf '{"decision":"block","reason":"the turn, %s"}' "$1" | sed 's/"quoted"/quoted/' ;;
*) echo '{"systemMessage":"the room has ended"}' ;;
esac
rmdir lock
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), node, "main.mjs")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if want := "prompt main the turn, it's quoted\ntoast the room has ended\n"; err != nil || string(out) != want {
		t.Errorf("%v, %q, want %q", err, out, want)
	}
}

// TestAwaitEnd: the hook of a plugin ends with the input that the client holds open.
func TestAwaitEnd(t *testing.T) {
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	go awaitEnd(r, cancel)
	if _, err := w.Write([]byte("{}\n")); err != nil || ctx.Err() != nil {
		t.Error(err, ctx.Err())
	}
	_ = w.Close() // the client has ended
	<-ctx.Done()
}
