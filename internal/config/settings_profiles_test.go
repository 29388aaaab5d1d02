package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
)

// TestProfileKeys reads the same profile in the documented spelling and in that of
// earlier releases, which warns with what to write.
func TestProfileKeys(t *testing.T) {
	want := []Profile{{
		Name: "a", Allow: true, Devices: []string{"d"}, MaxConcurrent: 1, MaxHops: 3, PerMinute: 4, Burst: 5,
		Caps:  Caps{AllowTools: true, MaxOutputChars: 100, MaxToolRounds: 2, MaxMinutes: 30},
		Rules: []room.AllowRule{{Kind: "read"}, {Kind: "execute", Argv: []string{"go", "test", "*"}}},
	}}
	const rules = "allow: [{kind: read}, {kind: execute, argv: [go, test, '*']}]"
	for name, text := range map[string]string{
		"snake": "{name: a, allow_shared_agent_calls: true, allowed_shared_device_ids: [d], max_concurrent_shared_calls: 1, max_hop_count: 3, rate_per_minute: 4, rate_burst: 5, " +
			"allow_tools: true, max_output_chars: 100, max_tool_rounds: 2, max_minutes: 30, " + rules + "}",
		"camel": "{name: a, allowSharedAgentCalls: true, allowedSharedDeviceIds: [d], maxConcurrentSharedCalls: 1, maxHopCount: 3, ratePerMinute: 4, rateBurst: 5, " +
			"allowTools: true, maxOutputChars: 100, maxToolRounds: 2, maxMinutes: 30, " + rules + "}",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "config.yaml")
			if err := os.WriteFile(path, []byte("profiles: ["+text+"]\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("MOOT_CONFIG", path)
			t.Setenv("HOME", dir)
			s, _, err := LoadSettings(nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range s.Profiles {
				s.Profiles[i].Dir = ""
			}
			if warns := strings.Contains(s.Warning, "max_hop_count, max_minutes,") && strings.Contains(s.Warning, "write ") && strings.Contains(s.Warning, "maxHopCount, maxMinutes,"); warns != (name == "snake") {
				t.Errorf("the warning is %q", s.Warning)
			}
			if !reflect.DeepEqual(s.Profiles, want) {
				t.Errorf("got %+v", s.Profiles)
			}
		})
	}
}

// TestProfileInstructions reads the instructions of a profile, whose file is
// relative to that of the settings.
func TestProfileInstructions(t *testing.T) {
	for name, c := range map[string]struct{ text, want, problem string }{
		"text":    {"\" Be brief.\"", "Be brief.", ""},
		"file":    {"{file: brief.md}", "Be brief.", ""},
		"none":    {"{file: none.md}", "", "the instructions of a: no text at none.md: no such file or directory; the path is relative"},
		"unknown": {"{url: x}", "", "unknown field"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "config.yaml")
			err := errors.Join(
				os.WriteFile(path, []byte("profiles: [{name: a, instructions: "+c.text+"}]\n"), 0o600),
				os.WriteFile(filepath.Join(dir, "brief.md"), []byte("\ufeffBe brief.\n"), 0o600),
			)
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("MOOT_CONFIG", path)
			t.Setenv("HOME", dir)
			s, _, err := LoadSettings(nil)
			switch {
			case c.problem != "":
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Errorf("got %v, want %s", err, c.problem)
				}
			case err != nil || s.Profiles[0].Instructions != c.want:
				t.Errorf("got %+v and %v", s.Profiles, err)
			}
		})
	}
}

// TestProfileRules refuses rules that would allow more than their owner can know.
func TestProfileRules(t *testing.T) {
	for rule, want := range map[string]string{
		"{kind: execute}": "needs argv", "{kind: other}": "unknown kinds", "{kind: read, path: [a]}": "path", "{kind: read, paths: [../a]}": "no pattern",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "config.yaml")
		if err := os.WriteFile(path, []byte("profiles: [{name: a, allow: ["+rule+"]}]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("MOOT_CONFIG", path)
		t.Setenv("HOME", dir)
		if _, _, err := LoadSettings(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", rule, err, want)
		}
	}
}

// TestProfileOfModel checks the endpoint of a model that is shared: its key is in a
// variable.
func TestProfileOfModel(t *testing.T) {
	for text, want := range map[string]string{
		`{kind: openai, model: m}`: "",
		`{kind: openai, model: m, baseURL: "https://x/v1", apiKey: "${KEY}"}`: "",
		`{kind: openai, model: m, baseURL: "https://${HOST}/v1"}`:             "",
		`{kind: a2a, url: "https://x", token: "${T}"}`:                        "",
		`{kind: a2a}`: "has no url",
		`{kind: a2a, url: "https://x", token: sk-secret-1}`: "has a secret",
		`{kind: a2a, url: "http://example.org"}`:            "without encryption",
		`{kind: a2a, url: "https://a:sk-secret@x"}`:         "has a user name",
		`{kind: openai}`: "has no model",
		`{kind: openai, model: m, apiKey: sk-secret-1}`:             "has a secret",
		`{kind: openai, model: m, apiKey: "${K:-sk-secret}"}`:       "has a secret",
		`{kind: openai, model: m, baseURL: "http://a:sk-secret@x"}`: "has a user name",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "config.yaml")
		if err := os.WriteFile(path, []byte("profiles:\n  - {name: a, endpoint: "+text+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("MOOT_CONFIG", path)
		t.Setenv("HOME", dir)
		_, _, err := LoadSettings(nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sk-secret")) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
