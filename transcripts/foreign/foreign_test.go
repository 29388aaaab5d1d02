package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/transcripts"
)

// read reads all conversations of a file, and ends at the first error.
func read(tb testing.TB, content []byte, name string, want Format) (Format, []*Conversation, error) {
	tb.Helper()
	return readWith(tb, content, name, Options{Format: want, Strict: true})
}

// readWith reads all conversations of a file.
func readWith(tb testing.TB, content []byte, name string, o Options) (Format, []*Conversation, error) {
	tb.Helper()
	f, err := Open(bytes.NewReader(content), name, o)
	if err != nil {
		return "", nil, err
	}
	var all []*Conversation
	for c, err := range f.Conversations() {
		if err != nil {
			return f.Format, all, err
		}
		all = append(all, c)
	}
	return f.Format, all, nil
}

// told formats conversations for goldens.
func told(all []*Conversation) string {
	var b strings.Builder
	for _, c := range all {
		r := c.Report
		fmt.Fprintf(&b, "# %s (%s): %d pieces, %d turns, %d joined\n", c.ID, r.Format, r.Pieces, r.Turns, r.Joined)
		for _, l := range r.Left {
			fmt.Fprintf(&b, "left out %d: %s\n", l.N, l.Why)
		}
		for _, l := range r.Changed {
			fmt.Fprintf(&b, "changed %d: %s\n", l.N, l.Why)
		}
		if o := c.Objective(); o != "" {
			fmt.Fprintf(&b, "objective: %.80s\n", strings.ReplaceAll(o, "\n", " "))
		}
		for _, p := range c.Participants {
			fmt.Fprintf(&b, "%s %q name=%q role=%q\n", p.Kind, p.ID, p.Name, p.Role)
		}
		for _, t := range c.Turns {
			fmt.Fprintf(&b, "%d %s", t.I, t.Speaker)
			if len(t.Addressees) > 0 {
				fmt.Fprintf(&b, " -> %s", strings.Join(t.Addressees, ", "))
			}
			if t.Channel != "" {
				fmt.Fprintf(&b, " [%s]", t.Channel)
			}
			if t.At != "" {
				fmt.Fprintf(&b, " %s", t.At)
			}
			if t.Seconds != nil {
				fmt.Fprintf(&b, " %gs", *t.Seconds)
			}
			if u := t.Usage; u.Known {
				fmt.Fprintf(&b, " %d/%d tokens", u.Input, u.Output)
			}
			text := strings.ReplaceAll(t.Text, "\n", "⏎")
			if r := []rune(text); len(r) > 100 {
				text = string(r[:100]) + fmt.Sprintf("… (%d bytes)", len(t.Text))
			}
			fmt.Fprintf(&b, ": %s\n", text)
		}
	}
	return b.String()
}

// sound checks invariants of every imported conversation: the counts of the
// report add up, and the neutral format accepts it.
func sound(tb testing.TB, c *Conversation) {
	tb.Helper()
	if r := c.Report; r.Pieces != r.Turns+r.Joined+r.LeftOut() || r.Turns != len(c.Turns) {
		tb.Errorf("%s: the report does not add up: %+v, %d turns", c.ID, r, len(c.Turns))
	}
	line, err := json.Marshal(c.Conversation)
	if err != nil {
		tb.Fatal(err)
	}
	for back, err := range transcripts.ReadConversations(bytes.NewReader(line), "neutral") {
		if err != nil {
			tb.Errorf("the neutral form refuses it: %v", err)
		} else if len(back.Turns) != len(c.Turns) {
			tb.Errorf("%d turns came back of %d", len(back.Turns), len(c.Turns))
		}
	}
}

var update = os.Getenv("UPDATE_GOLDEN") != ""

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// fixtures are the files of testdata and their detected formats.
// README.md there names the source of each.
var fixtures = map[string]Format{
	"autogen-groupchat.json": AutoGen, "autogen-team-state.json": AutoGenState, "magentic-log.json": MagenticOne,
	"claude-session.jsonl": ClaudeCode, "codex-rollout.jsonl": Codex, "codex-subagent.jsonl": Codex,
	"otel-team.json": OTel, "otel-older.jsonl": OTel, "openai-messages.json": OpenAI, "openai-finetune.jsonl": OpenAI,
	"a2a-task.json": A2A, "a2a-task-v03.json": A2A, "opencode-export.json": OpenCode,
	"ag2-trajectory.json": AutoGen, "tau-results.json": OpenAI, "autogen-agent-state.json": AutoGenState, "claude-loglines.json": ClaudeCode,
	"claude-no-session.jsonl": ClaudeCode, "codex-older.jsonl": Codex, "codex-untyped.jsonl": Codex, "jaeger-traces.json": OTel, "tempo-trace.json": OTel,
	"weekdays.irc.txt": IRC, "rrsagent.irc.txt": IRC, "film.srt": SRT,
	"hermes-session.jsonl": Hermes, "gemini-session.json": Gemini, "gemini-session.jsonl": Gemini, "qwen-session.jsonl": Qwen,
	"discord-channel.json": Discord, "matrix-export.json": Matrix, "inspect-log.json": Inspect, "langsmith-runs.json": LangSmith,
	"meeting.vtt": WebVTT, "captions.srt": SRT, "channel.irc.txt": IRC, "minutes.irc.txt": IRC,
}

func TestFixtures(t *testing.T) {
	for file, want := range fixtures {
		t.Run(file, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			format, all, err := read(t, content, file, "")
			if err != nil || format != want {
				t.Fatalf("read as %s, %v; want %s", format, err, want)
			}
			for _, c := range all {
				sound(t, c)
			}
			golden(t, file, told(all))
		})
	}
}

// samples is a folder with files of other programs, outside the repository.
const samples = "../../../shared/transcripts/format-samples/"

func sample(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(samples + name)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the shared samples of foreign formats are not on this machine")
	}
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestSamples(t *testing.T) {
	for file, want := range map[string]Format{
		"autogen-chat-history.json": AutoGen, "magentic-one-history.json": MagenticOne, "claude-code-session.jsonl": ClaudeCode,
		"codex-rollout.truncated.jsonl": Codex, "otel-genai-otlp.truncated.json": OTel, "slack-export.zip": Slack,
		"irc-ubuntu.raw.txt": IRC, "irc-w3c.log": IRC,
	} {
		t.Run(file, func(t *testing.T) {
			format, all, err := read(t, sample(t, file), file, "")
			if err != nil || format != want {
				t.Fatalf("read as %s, %v; want %s", format, err, want)
			}
			for _, c := range all {
				sound(t, c)
			}
			if os.Getenv("SHOW") != "" {
				t.Log(told(all))
			}
		})
	}
}

// code returns the code of a *problem.Error and fails on any other error.
func code(t *testing.T, err error) string {
	t.Helper()
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		t.Fatalf("no problem with a code: %v", err)
	}
	return p.Code
}

// TestAgreesWithSet compares the import of a raw channel log with the shared
// set, which was made from the same log by other means.
func TestAgreesWithSet(t *testing.T) {
	_, all, err := read(t, sample(t, "irc-ubuntu.raw.txt"), "irc-ubuntu.raw.txt", "")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("../../../shared/transcripts/irc-channels.jsonl.gz")
	if err != nil {
		t.Skip("the shared transcripts are not on this machine")
	}
	defer f.Close()
	for c, err := range transcripts.ReadConversations(f, "irc-channels") {
		if err != nil {
			t.Fatal(err)
		}
		if c.ID != "irc/train/2004-12-25.train-c" {
			continue
		}
		for i, turn := range all[0].Turns {
			if want := c.Turns[i]; turn.Speaker != want.Speaker || turn.Text != want.Text {
				t.Fatalf("turn %d is %+v, want %+v", i, turn, want)
			}
		}
		return
	}
	t.Fatal("the set does not hold the log of the sample")
}
