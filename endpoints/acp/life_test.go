package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/folkmoot/moot/endpoints/acp"
	"github.com/folkmoot/moot/endpoints/endpoint"
)

// scriptVar names the script of an agent that plays one.
const scriptVar = "MOOT_SCRIPT"

// play is an agent that follows its script, process by process: it awaits each line
// behind "> ", of which it compares the keys that the script has, and writes each
// line behind "< ".
func (f *fixture) play() {
	a, err := txtar.ParseFile(os.Getenv(scriptVar))
	if err != nil {
		f.wrong("%v", err)
	}
	for _, file := range a.Files {
		if strings.HasPrefix(file.Name, "process") && firstTime(file.Name) {
			f.playLines(string(file.Data))
			return
		}
	}
	f.wrong("the script has no further process")
}

func (f *fixture) playLines(script string) {
	for line := range strings.Lines(script) {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "< "):
			fmt.Println(text[2:])
		case strings.HasPrefix(text, "> "):
			got, err := f.ReadBytes('\n')
			if err != nil {
				f.wrong("want %s and got %v", text[2:], err)
			}
			var want, have any
			if json.Unmarshal([]byte(text[2:]), &want) != nil || json.Unmarshal(got, &have) != nil || !contains(have, want) {
				f.wrong("want %s\nand got %s", text[2:], got)
			}
		case text == "exit":
			f.exit("")
		case text != "" && !strings.HasPrefix(text, "#"):
			f.wrong("the script has the line %q", text)
		}
	}
	if rest, err := f.ReadBytes('\n'); err == nil {
		f.wrong("nothing more was expected, and got %s", rest)
	}
}

// contains reports whether have has all that want has.
func contains(have, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		m, ok := have.(map[string]any)
		for k, v := range want {
			ok = ok && contains(m[k], v)
		}
		return ok
	case []any:
		list, ok := have.([]any)
		ok = ok && len(list) == len(want)
		for i := range want {
			ok = ok && contains(list[i], want[i])
		}
		return ok
	}
	return reflect.DeepEqual(have, want)
}

// wrong ends an agent whose script does not fit. The test fails with the reason,
// because these are its last words.
func (f *fixture) wrong(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "the script does not fit: "+format+"\n", args...)
	os.Exit(9)
}

// TestSessionLife plays the scripts in testdata/life. The comment of a script is the
// configuration, its files "process1" and so on are the agent's processes, and its
// file "room" is what the room does and sees.
func TestSessionLife(t *testing.T) {
	scripts, err := filepath.Glob("testdata/life/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, name := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			l := &life{T: t, room: newRoom()}
			l.Endpoint = acp.New(l.config(name, string(a.Comment)))
			defer l.Close()
			l.room.answer = l.permit
			for _, file := range a.Files {
				if file.Name == "room" {
					l.play(string(file.Data))
				}
			}
		})
	}
}

// A life is a session under test.
type life struct {
	*testing.T
	*acp.Endpoint
	room   *room
	answer endpoint.Answer // to permission requests
	waits  bool            // they are not answered
	reply  endpoint.Reply  // of the latest turn
}

// config returns the configuration in the comment of a script.
func (l *life) config(name, comment string) acp.Config {
	script, err := filepath.Abs(name)
	self, err2 := os.Executable()
	if err != nil || err2 != nil {
		l.Fatal(err, err2)
	}
	cfg := acp.Config{
		Preset:  acp.Preset{Name: "test", SignIn: "run `test login`"},
		Command: []string{self}, Dir: l.TempDir(), Restart: 3, Grace: hangGuard,
		Env:      []string{fixtureVar + "=script", scriptVar + "=" + script, "TEST_KEY=sk-very-secret"},
		AllowEnv: []string{"GOCOVERDIR"},
	}
	for line := range strings.Lines(comment) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "mode":
			cfg.Preset.Mode = value
		case "option":
			cfg.Preset.Option, cfg.Preset.Value, _ = strings.Cut(value, "=")
		case "messageIDs":
			cfg.Preset.MessageIDs = value == "true"
		case "say":
			cfg.SayAll = value == "all"
		case "tools":
			cfg.Tools = tools(value)
		}
	}
	return cfg
}

// tools returns the tool servers of sessions, each with a token of its own. kind is
// what the server offers: http, command or both.
func tools(kind string) func() (acp.ToolServer, bool) {
	var n atomic.Int64
	return func() (acp.ToolServer, bool) {
		token := fmt.Sprint("moot_token-", n.Add(1))
		s := acp.ToolServer{Name: "moot", Token: token}
		if kind != "command" {
			s.URL = "http://127.0.0.1:8420/mcp"
		}
		if kind != "http" {
			s.Command, s.Env = []string{"/bin/moot", "mcp"}, []string{"MOOT_TOKEN=" + token}
		}
		return s, kind != "none"
	}
}

// permit answers permission requests.
func (l *life) permit(ctx context.Context, p endpoint.Permission) (endpoint.Answer, error) {
	b, _ := json.Marshal(p)
	l.room.note(func() { l.room.shown += "asked " + string(b) + "\n" })
	if l.waits {
		<-ctx.Done()
		return endpoint.Answer{}, ctx.Err()
	}
	return l.answer, nil
}

// play does what the room does: a line is a command and its result.
func (l *life) play(script string) {
	for line := range strings.Lines(script) {
		text, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
		command, arg, _ := strings.Cut(text, " ")
		got := want
		switch command {
		case "", "#":
		case "start":
			got = outcome(endpoint.Reply{Outcome: "ready"}, l.Start(l.Context(), l.room))
		case "speak":
			p := ask(arg)
			p.Instructions = "Be kind."
			r, err := l.Speak(l.Context(), p, l.room)
			l.reply, got = r, outcome(r, err)
		case "cancel": // once the live text has the argument
			ctx, stop := context.WithCancel(l.Context())
			go func() {
				l.room.waitFor(l, arg)
				stop()
			}()
			_, err := l.Speak(ctx, ask("cancel me"), l.room)
			got = outcome(endpoint.Reply{}, err)
		case "cancel-start": // once there is a signal with that code
			ctx, stop := context.WithCancel(l.Context())
			go func() {
				l.room.waitFor(l, arg)
				stop()
			}()
			got = outcome(endpoint.Reply{}, l.Start(ctx, l.room))
		case "usage":
			b, _ := json.Marshal(l.reply.Usage)
			got = string(b)
		case "tools":
			b, _ := json.Marshal(l.reply.Tools)
			got = string(b)
		case "answer":
			l.waits = arg == "never"
			l.answer = endpoint.Answer{Allowed: arg != "no", Always: arg == "always", By: "me", Reason: "as the test says"}
			switch {
			case strings.HasPrefix(arg, "{"):
				l.answer.Body = []byte(arg)
			case arg == "late":
				l.answer = endpoint.Answer{By: endpoint.NoAnswer, Reason: "no person has answered in time"}
			}
		case "await":
			l.room.waitFor(l, arg)
		case "count":
			got = fmt.Sprint(l.room.count(arg))
		case "shown":
			l.room.waitFor(l, arg)
		case "hidden":
			l.room.mu.Lock()
			if strings.Contains(l.room.shown, arg) {
				got = "shown: " + l.room.shown
			}
			l.room.mu.Unlock()
		default:
			l.Fatalf("unknown command %q", command)
		}
		if got != want && !(strings.HasSuffix(want, "...") && strings.HasPrefix(got, strings.TrimSuffix(want, "..."))) {
			l.Fatalf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// outcome is a reply or an error on one line.
func outcome(r endpoint.Reply, err error) string {
	if err != nil {
		text := strings.ReplaceAll(err.Error(), "\n", " ")
		if strings.Contains(text, "AGENT-SIGNIN") != errors.Is(err, endpoint.ErrSignIn) {
			text = "of another kind: " + text
		}
		return "error " + text
	}
	parts := []string{r.Outcome, r.Text, r.Reason}
	if r.Cut {
		parts[0] += " cut"
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}
