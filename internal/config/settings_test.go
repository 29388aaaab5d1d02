package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/folkmoot/moot/problem"
)

// home gives the test an empty home folder and clears the variables of moot.
func home(t *testing.T, settings string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"MOOT_CONFIG", "MOOT_DATA", "MOOT_CACHE", "MOOT_LOG_LEVEL", "MOOT_LOG_FORMAT", "XDG_DATA_HOME"} {
		t.Setenv(name, "")
	}
	for name, val := range map[string]string{"HOME": dir, "XDG_CONFIG_HOME": filepath.Join(dir, "conf"), "XDG_CACHE_HOME": filepath.Join(dir, "cache")} {
		t.Setenv(name, val)
	}
	if settings != "" {
		file := filepath.Join(dir, "config.yaml")
		if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("MOOT_CONFIG", file)
	}
	return dir
}

func flags(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.String("data", "", "")
	f.String("log-level", "", "")
	f.String("log-format", "", "")
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSettingsDefaults(t *testing.T) {
	dir := home(t, "")
	s, _, err := LoadSettings(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Settings{
		Data: filepath.Join(dir, ".local/share/moot"), Cache: filepath.Join(dir, "cache/moot"),
		LogLevel: "warn", LogFormat: "text", Relay: Relay{Listen: "127.0.0.1:7447"}, Server: Server{Listen: DefaultListen, Drain: DefaultDrain}, File: filepath.Join(dir, "conf/moot/config.yaml"),
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%+v, want %+v", s, want)
	}
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "xdg"))
	if s, _, _ = LoadSettings(nil); s.Data != filepath.Join(dir, "xdg/moot") {
		t.Error(s.Data)
	}
}

// TestSettingsOrder tests the precedence and the origin of settings.
func TestSettingsOrder(t *testing.T) {
	dir := home(t, "data: rooms\ncache: ~/c\nlog: {level: info, format: json}\n")
	t.Setenv("MOOT_LOG_LEVEL", "error")
	t.Setenv("MOOT_DATA", "/env/data")
	s, list, err := LoadSettings(flags(t, "--data", "/flag/data"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "config.yaml")
	want := []Setting{
		{"data", "/flag/data", "flag --data"},
		{"cache", filepath.Join(dir, "c"), file},
		{"log.level", "error", "env MOOT_LOG_LEVEL"},
		{"log.format", "json", file},
	}
	for i := range want {
		if list[i] != want[i] {
			t.Errorf("%+v, want %+v", list[i], want[i])
		}
	}
	if s.Data != "/flag/data" || s.LogLevel != "error" || s.LogFormat != "json" {
		t.Errorf("%+v", s)
	}
	t.Setenv("MOOT_DATA", "")
	if s, _, _ = LoadSettings(nil); s.Data != filepath.Join(dir, "rooms") {
		t.Errorf("relative to the file: %s", s.Data)
	}
}

// TestSettingsOfRelay: relative files start at the folder of the settings file;
// other values are kept.
func TestSettingsOfRelay(t *testing.T) {
	dir := home(t, "relay: {host: relay.example.org, tokens: tokens, metrics: \"127.0.0.1:9447\"}\n")
	t.Setenv("MOOT_RELAY_HOST", "other.example.org:7447")
	s, _, err := LoadSettings(nil)
	want := Relay{Listen: DefaultRelayListen, Host: "other.example.org:7447", Tokens: filepath.Join(dir, "tokens"), Metrics: "127.0.0.1:9447"}
	if err != nil || s.Relay != want {
		t.Errorf("%+v, %v", s.Relay, err)
	}
}

// TestRelayTokens: relay.tokens is a file for `moot relay`, or a mapping with
// the tokens of this device.
func TestRelayTokens(t *testing.T) {
	dir := home(t, "relay: {tokens: {Relay.example.org: tokens/one, \"10.0.0.1:7447\": /two}, token: old, url: \"wss://relay.example.org\"}\n")
	s, list, err := LoadSettings(nil)
	want := []RelayToken{{"relay.example.org", filepath.Join(dir, "tokens/one")}, {"10.0.0.1:7447", "/two"}}
	if err != nil || !slices.Equal(s.RelayTokens, want) || s.Relay.Tokens != "" || s.TokenFile != filepath.Join(dir, "old") {
		t.Errorf("%+v, %v", s, err)
	}
	if last := list[len(list)-1]; last != (Setting{"relay.tokens.10.0.0.1:7447", "/two", filepath.Join(dir, "config.yaml")}) {
		t.Errorf("shown as %+v", last)
	}
}

func TestSettingsProblems(t *testing.T) {
	for _, c := range []struct{ name, file, level, code, what string }{
		{"unknown key", "dta: x\n", "", "CONFIG-KEY", `"dta"`},
		{"unknown key below", "log: {levle: x}\n", "", "CONFIG-KEY", `"log.levle"`},
		{"wrong case, which viper would accept", "Data: x\n", "", "CONFIG-KEY", `"Data"`},
		{"twice", "data: x\ndata: y\n", "", "CONFIG-KEY", "twice"},
		{"value in the file", "log: {level: loud}\n", "", "CONFIG-VALUE", `"loud"`},
		{"value in the environment", "", "trace", "CONFIG-VALUE", `"trace"`},
		{"a list", "data: [x]\n", "", "CONFIG-VALUE", "a list"},
		{"log as a word", "log: debug\n", "", "CONFIG-KEY", `"log"`},
		{"a token for a URL", "relay: {tokens: {\"wss://relay.example.org\": x}}\n", "", "CONFIG-VALUE", "is not the host of a relay"},
		{"a token for nothing", "relay: {tokens: {\"\": x}}\n", "", "CONFIG-VALUE", "is not the host of a relay"},
		{"two tokens for a relay", "relay: {tokens: {a.org: x, A.org: y}}\n", "", "CONFIG-VALUE", "names a.org twice"},
		{"a token that is no file", "relay: {tokens: {a.org: [x]}}\n", "", "CONFIG-VALUE", "want a file"},
		{"not a mapping", "- x\n", "", "ROOM-TYPE", "list"},
		{"invalid YAML", "a: [\n", "", "ROOM-YAML", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			home(t, c.file)
			t.Setenv("MOOT_LOG_LEVEL", c.level)
			_, _, err := LoadSettings(nil)
			var p *problem.Error
			if !errors.As(err, &p) || p.Code != c.code || !strings.Contains(p.What, c.what) || p.Where == "" {
				t.Errorf("%v", err)
			}
		})
	}
	home(t, "")
	t.Setenv("MOOT_CONFIG", "/nowhere/at/all.yaml")
	if _, _, err := LoadSettings(nil); err == nil {
		t.Error("MOOT_CONFIG names a missing file: no error")
	}
	home(t, "")
	t.Setenv("HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	var p *problem.Error
	if _, _, err := LoadSettings(nil); !errors.As(err, &p) || p.Code != "CONFIG-HOME" {
		t.Errorf("without a home folder: %v", err)
	}
}

// TestNotify checks the program that is run for what waits.
func TestNotify(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	t.Setenv("MOOT_CONFIG", file)
	load := func(text string) (Settings, []Setting, error) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return LoadSettings(nil)
	}
	for text, want := range map[string]Notify{
		"notify: {command: [notify-send, moot]}":  {Command: []string{"notify-send", "moot"}},
		"notify: {command: [./tell], text: true}": {Command: []string{filepath.Join(dir, "tell")}, Text: true},
		"notify: {text: false}":                   {},
	} {
		s, list, err := load(text)
		if err != nil || !reflect.DeepEqual(s.Notify, want) {
			t.Errorf("%s: %+v, %v", text, s.Notify, err)
		}
		shown := slices.ContainsFunc(list, func(x Setting) bool { return x.Key == "notify.command" && x.Origin == file })
		if shown != (want.Command != nil) {
			t.Errorf("%s: shown is %t", text, shown)
		}
	}
	for _, text := range []string{
		"notify: true", "notify: {command: notify-send}", "notify: {command: []}", "notify: {command: [a, [b]]}", "notify: {command: [\"\"]}",
		"notify: {text: sometimes}", "notify: {text: [true]}", "notify: {comand: [a]}", "notify: {text: true, text: true}",
		"notify: {command: [" + strings.Repeat("a, ", 64) + "a]}",
	} {
		if _, _, err := load(text); err == nil || !strings.Contains(err.Error(), "notify") {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}

// TestHidePassword shows the hosts of a log's URL, and no user, password or option.
func TestHidePassword(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://ann:secret@db.example/moot?sslpassword=secret": "postgres://db.example/moot",
		"nats://one:4222,nats://ann:secret@two:4222/team":          "nats://one:4222,nats://two:4222/team",
		"nats://one:4222":                 "nats://one:4222",
		"postgres://ann:sec/ret@host":     "postgres://...",
		"nats://ann:4,secret@one:4222":    "nats://one:4222",
		"nats://ann:se,cret@one,nats://b": "nats://...",
	} {
		if got := HidePassword(address); got != want {
			t.Errorf("%s is shown as %s, want %s", address, got, want)
		}
	}
}
