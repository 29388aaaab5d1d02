package config

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

const full = `version: room/v1
name: review
objective: |
  Review the plan for ${NAME}. Keep $${THIS} and $5.
constraints: [Be brief.]
include: [./more/security.yaml]
onRestart: continue
participants:
  - id: Code
    name: Codebase agent
    role: Knows it
    domains: [go, sql]
    mode: semi_auto
    remembers: true
    cooldown: 1
    maxTokens: 5_000
    allowToolUse: true
    profile: coder
    timeout: 1m30s
    price: {input: 3, cachedInput: 0.3, output: 0.25}
    review: {confidenceBelow: 0.7, words: [drop], longerThan: 900}
    endpoint: {kind: ndjson, command: [./agent.sh, "--for=${NAME}"], env: {TOKEN: "${GREETING_TOKEN}"}, restart: 2}
    instructions: |
      You are ${NAME}'s.
      Be brief.
  - {id: ana, kind: human, moderator: true}
policy:
  use: mention
  settings: {declineBelow: 0.35, who: ["${NAME}"]}
  hints: true
  explore: 0.05
limits: {maxTurns: 12, maxDuration: 15m, maxCost: 2.5, maxOutputChars: 8000, declineRetry: 500ms}
context: {tokens: 6000, summary: {maxTokens: 900, lineChars: 80}, maxHistoryTurns: 4, maxHistoryChars: 10000}
`

const security = `constraints: [No secrets.]
participants:
  - id: security
    owner: dana
    mode: full_auto
    endpoint: {kind: ndjson, command: [./sec.sh], cwd: ./work}
  - id: model
    mode: full_auto
    endpoint: {kind: openai, baseURL: "https://${NAME}.example/v1", model: m, apiKey: "${GREETING_TOKEN}", temperature: 0, maxOutputTokens: 9}
  - id: script
    mode: full_auto
    instructions: {file: sec.sh}
    endpoint: {kind: scripted, script: lines.txt}
`

func loadFull(t *testing.T) (*Room, string) {
	t.Helper()
	path := write(t, map[string]string{
		"room.yaml": full, "more/security.yaml": security, "agent.sh": "#!/bin/sh\n",
		"more/sec.sh": "#!/bin/sh\n", "more/work/x": "", "more/lines.txt": "hi\n",
	})
	r, ps := Load(path, testOptions)
	if len(ps) > 0 {
		t.Fatal(brief(ps), ps)
	}
	return r, filepath.Dir(path)
}

func TestValues(t *testing.T) {
	r, dir := loadFull(t)
	spec, seats := r.Spec("r_01", "5ec")
	wantSpec := room.Spec{
		Room: "r_01", Name: "review", Objective: "Review the plan for Ana. Keep ${THIS} and $5.",
		Constraints: []string{"Be brief.", "No secrets."}, Secret: "5ec", OnRestart: "continue", Dir: dir,
		Limits: room.Limits{
			MaxTurns: 12, MaxDuration: 15 * time.Minute, MaxCost: 2_500_000, MaxOutput: 8000,
			DeclineRetry: 500 * time.Millisecond,
		},
		Context: room.Context{Tokens: 6000, SummaryTokens: 900, LineChars: 80, HistoryTurns: 4, HistoryChars: 10000},
		Policy:  room.PolicyRef{Use: "mention", Settings: policy.JSON(`{"declineBelow":0.35,"who":["Ana"]}`), Hints: true}, Explore: 0.05,
	}
	if !reflect.DeepEqual(spec, wantSpec) {
		t.Errorf("spec\n%+v\nwant\n%+v", spec, wantSpec)
	}
	wantCode := room.Participant{
		ID: "Code", Instructions: "You are Ana's.\nBe brief.", Name: "Codebase agent", Kind: policy.Local, Role: "Knows it", Domains: []string{"go", "sql"},
		Profile: "coder", Mode: room.SemiAuto, Remembers: true, Cooldown: 1, MaxTokens: 5000, Tools: true,
		Price:  room.Price{Input: 3_000_000, CachedInput: 300_000, Output: 250_000},
		Review: room.Review{ConfidenceBelow: 0.7, Words: []string{"drop"}, LongerThan: 900}, Timeout: 90 * time.Second,
		Endpoint: policy.JSON(`{"command":["./agent.sh","--for=${NAME}"],"env":{"TOKEN":"${GREETING_TOKEN}"},"kind":"ndjson","restart":2}`),
	}
	if !reflect.DeepEqual(seats[0], wantCode) {
		t.Errorf("seat\n%+v\nwant\n%+v", seats[0], wantCode)
	}
	for i, want := range []room.Participant{
		1: {ID: "ana", Name: "ana", Kind: policy.Human, Moderator: true},
		2: {ID: "security", Name: "security", Kind: policy.Remote, Owner: "dana", Mode: room.FullAuto},
		3: {ID: "model", Name: "model", Kind: policy.Local, Mode: room.FullAuto},
		4: {ID: "script", Name: "script", Kind: policy.Local, Mode: room.FullAuto, Instructions: "#!/bin/sh"},
	} {
		if i == 0 {
			continue
		}
		got := seats[i]
		got.Endpoint = nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("seat %d\n%+v\nwant\n%+v", i, got, want)
		}
	}
}

// TestEndpoints: an endpoint can be expanded again from its form in the log, also
// one of an included file.
func TestEndpoints(t *testing.T) {
	r, dir := loadFull(t)
	want := []*Endpoint{
		{
			Kind: "ndjson", Command: []string{filepath.Join(dir, "agent.sh"), "--for=Ana"}, Dir: dir,
			Env: map[string]string{"TOKEN": "hunter2"}, Restart: new(2),
		},
		nil,
		{Kind: "ndjson", Command: []string{filepath.Join(dir, "more", "sec.sh")}, Dir: filepath.Join(dir, "more", "work")},
		{Kind: "openai", BaseURL: "https://Ana.example/v1", Model: "m", APIKey: "hunter2", Temperature: new(float64), MaxOutputTokens: 9},
		{Kind: "scripted", Script: filepath.Join(dir, "more", "lines.txt")},
	}
	for i, p := range r.Participants {
		if !reflect.DeepEqual(p.Endpoint, want[i]) {
			t.Errorf("%s: %+v, want %+v", p.Seat.ID, p.Endpoint, want[i])
		}
		if want[i] == nil {
			continue
		}
		again, err := ExpandEndpoint(p.Seat.Endpoint, r.Dir, testOptions.Lookup)
		if err != nil || !reflect.DeepEqual(again, *want[i]) {
			t.Errorf("%s again: %+v, %v", p.Seat.ID, again, err)
		}
	}
	if e, err := ExpandEndpoint(policy.JSON(`{"kind":"openai","model":"m"}`), dir, nil); err != nil || e.BaseURL != DefaultBaseURL {
		t.Errorf("a model without a URL: %+v, %v", e, err)
	}
	if e, err := ExpandEndpoint(policy.JSON(`{"kind":"a2a","url":"https://${NAME}","token":"${GREETING_TOKEN}"}`), dir, testOptions.Lookup); err != nil || e.URL != "https://Ana" || e.Token != "hunter2" {
		t.Errorf("an A2A agent: %+v, %v", e, err)
	}
	if written := string(r.Participants[3].Seat.Endpoint); strings.Contains(written, "hunter2") {
		t.Errorf("the log would have the key: %s", written)
	}
	for _, bad := range []string{``, `{`, `[]`, `{"kind":"x","other":1}`, `{"kind":"ndjson","command":["${UNSET}"]}`} {
		if e, err := ExpandEndpoint(policy.JSON(bad), dir, testOptions.Lookup); err == nil {
			t.Errorf("%s: %+v", bad, e)
		}
	}
}

// TestPrivacyNote checks which agents are shown as not end to end encrypted.
func TestPrivacyNote(t *testing.T) {
	for written, want := range map[string]string{
		`{"kind":"a2a","url":"https://${X}","token":"${T}"}`: "A2A agent at https://${X}, not end to end encrypted: its server reads the room",
		`{"kind":"relay","peer":"x"}`:                        "",
		``:                                                   "",
	} {
		if got := PrivacyNote(policy.JSON(written)); got != want {
			t.Errorf("%s: %q", written, got)
		}
	}
}

func TestMayBid(t *testing.T) {
	for written, want := range map[string]bool{
		`{"kind":"ndjson","command":["x"]}`: true, `{"kind":"scripted","lines":["x"]}`: true, `{"kind":"relay","peer":"x"}`: true, `{"kind":"go","name":"x"}`: true,
		`{"kind":"acp","command":["x"]}`: false, `{"kind":"command","command":["x"]}`: false, `{"kind":"openai"}`: false, `{"kind":"a2a"}`: false,
		``: true, // a person, or a seat of a program that embeds moot
	} {
		if got := MayBid(policy.JSON(written)); got != want {
			t.Errorf("%s: %t", written, got)
		}
	}
}

func TestFiles(t *testing.T) {
	files := map[string]string{
		"sub/room.yaml":   strings.ReplaceAll(head, "participants", "include: [../a.yaml, b.yaml]\nparticipants"),
		"a.yaml":          "participants:\n  - {id: c, endpoint: {kind: scripted, lines: []}}\n",
		"sub/b.yaml":      "include: [deep/c.yaml]\n",
		"sub/deep/c.yaml": "constraints: [x]\n",
	}
	path := filepath.Join(filepath.Dir(write(t, files)), "sub", "room.yaml")
	r, ps := Load(path, testOptions)
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	var got []string
	for _, f := range r.Files {
		rel, _ := filepath.Rel(filepath.Dir(path), f.Path)
		if f.Outside {
			rel += " (outside)"
		}
		if len(f.SHA256) != 64 {
			t.Error(f)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	if want := "room.yaml, ../a.yaml (outside), b.yaml, deep/c.yaml"; strings.Join(got, ", ") != want {
		t.Errorf("%v, want %v", got, want)
	}
	if len(r.Participants) != 3 || len(r.Constraints) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestIncludeProblems(t *testing.T) {
	for _, c := range []struct {
		name, include string
		files         map[string]string
		want          string
	}{
		{"itself", "./room.yaml", nil, "room.yaml:6:11 ROOM-INCLUDE"},
		{"cycle", "a.yaml", map[string]string{"a.yaml": "include: [b.yaml]\n", "b.yaml": "include: [./a.yaml]\n"}, "b.yaml:1:11 ROOM-INCLUDE"},
		{"twice", "a.yaml, ./a.yaml", map[string]string{"a.yaml": "constraints: []\n"}, "room.yaml:6:19 ROOM-INCLUDE"},
		{"absolute", "/etc/passwd", nil, "room.yaml:6:11 ROOM-INCLUDE"},
		{"missing file", "a.yaml", nil, "room.yaml:6:11 ROOM-INCLUDE"},
		{"a folder", "sub", map[string]string{"sub/x": ""}, "room.yaml:6:11 ROOM-INCLUDE"},
		{"broken", "a.yaml", map[string]string{"a.yaml": "participants: [\n"}, "a.yaml:1:1 ROOM-YAML"},
		{"key of the main file", "a.yaml", map[string]string{"a.yaml": "policy: {use: mention}\n"}, "a.yaml:1:1 ROOM-KEY"},
		{"other version", "a.yaml", map[string]string{"a.yaml": "version: room/v9\n"}, "a.yaml:1:10 ROOM-VALUE"},
		{"not a list", "a.yaml", map[string]string{"a.yaml": "participants: {}\n"}, "a.yaml:1:15 ROOM-TYPE"},
		{"problem in a participant", "a.yaml", map[string]string{"a.yaml": "participants:\n  - {id: c, endpoint: {kind: scripted, lines: []}, x: 1}\n"}, "a.yaml:2:52 ROOM-KEY"},
		{"same id in both", "a.yaml", map[string]string{"a.yaml": "participants:\n  - {id: a, endpoint: {kind: scripted, lines: []}}\n"}, "a.yaml:2:10 ROOM-DUPLICATE-ID"},
		{"a variable in the name", "\"${UNSET}.yaml\"", nil, "room.yaml:6:11 ROOM-VARIABLE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"room.yaml": head + "include: [" + c.include + "]\n"}
			for name, text := range c.files {
				files[name] = text
			}
			_, ps := Load(write(t, files), testOptions)
			var got []string
			for _, p := range ps {
				p.File = filepath.Base(p.File)
				got = append(got, p.Position.String()+" "+p.Code)
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got %v, want %s\n%v", got, c.want, ps)
			}
		})
	}
}

func TestShow(t *testing.T) {
	path := write(t, map[string]string{
		"room.yaml": head + "include: [more.yaml]\nobjective: For ${UNSET}\n",
		"more.yaml": "participants:\n  - {id: c, endpoint: {kind: ndjson, command: [x], env: {API_KEY: sk-1, T: \"${T}\"}}}\n" +
			"  - {id: d, endpoint: {kind: openai, model: m, apiKey: \"${K:-sk-1}\"}}\n  - {id: e, endpoint: {kind: openai, model: m, apiKey: \"${K}\"}}\n",
	})
	out, ps := Show(path, true)
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	for _, want := range []string{"For ${UNSET}", "${T}", "(hidden)", "apiKey: \"${K}\"", "more.yaml:2:5", "room.yaml:1:1"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "sk-1") {
		t.Errorf("secret in\n%s", out)
	}
}

// TestSchemaKeys: the schema and the wire structs have the same keys.
func TestSchemaKeys(t *testing.T) {
	c, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		at   string
		wire any
	}{
		{"#", wireRoom{}},
		{"#/$defs/participant", wireParticipant{}},
		{"#/$defs/policy", wirePolicy{}},
		{"#/$defs/limits", wireLimits{}},
		{"#/$defs/context", wireContext{}},
		{"#/$defs/participant/properties/review", wireReview{}},
		{"#/$defs/participant/properties/price", wirePrice{}},
	} {
		fields := map[string]bool{}
		for f := range reflect.TypeOf(s.wire).Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			fields[name] = true
		}
		props, _ := c.lookup(s.at)["properties"].(map[string]any)
		if len(props) == 0 {
			t.Errorf("%s: no properties", s.at)
		}
		for name := range props {
			if !fields[name] {
				t.Errorf("%s: %s is in the schema only", s.at, name)
			}
			delete(fields, name)
		}
		for name := range fields {
			t.Errorf("%s: %s is in the struct only", s.at, name)
		}
	}
}

// TestDefaultsInSchema: the descriptions of limits name the defaults of room.
func TestDefaultsInSchema(t *testing.T) {
	c, _ := schema()
	props := c.lookup("#/$defs/limits")["properties"].(map[string]any)
	def, _ := json.Marshal(room.Defaults(false))
	for name, want := range map[string]string{
		"maxTurns": "40, one-to-one 8", "maxDuration": "30m, one-to-one 10m", "maxFailures": "3", "maxDeclines": "3",
		"maxHops": "2", "maxCalls": "50", "maxOutputChars": "12000", "turnTimeout": "60s", "toolTurnTimeout": "120s",
		"remoteTimeout": "300s", "bidTimeout": "10s", "declineRetry": "5s", "maxToolRounds": "3", "maxViolations": "10",
		"sameText": "3", "sameTextOf": "12", "maxInternal": "12", "maxPingPong": "4",
	} {
		text, _ := props[name].(map[string]any)["description"].(string)
		if !strings.HasSuffix(text, want+".") {
			t.Errorf("%s: %q does not end with %q (%s)", name, text, want, def)
		}
	}
}

func TestExpand(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain $HOME $", "plain $HOME $"},
		{"${NAME}", "Ana"},
		{"a${NAME}b${NAME}", "aAnabAna"},
		{"${EMPTY}", ""},
		{"${EMPTY:-d}", "d"},
		{"${NONE:-}", ""},
		{"${NONE:-a:b}", "a:b"},
		{"$${NAME}", "${NAME}"},
		{"${NONE}", "!"},
		{"${EMPTY:?}", "!"},
		{"${NONE:?m}", "!"},
		{"${", "!"},
		{"${}", "!"},
		{"${1}", "!"},
		{"${NAME:x}", "!"},
		{"${NAME:", "!"},
	} {
		got, err := expand(c.in, testOptions.Lookup)
		if err != nil {
			got = "!"
		}
		if got != c.want {
			t.Errorf("%q: %q (%v), want %q", c.in, got, err, c.want)
		}
	}
}

func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"API_KEY": true, "OPENAI_API_KEY": true, "TOKEN": true, "db_password": true, "AWS_SECRET_ACCESS_KEY": true,
		"MAX_TOKENS": false, "KEY": false, "KEYBOARD": false, "SORT_KEY": false, "HOME": false, "PRIVATE_KEY": true,
	} {
		if secretName(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// TestLineBreaks checks the line of a problem, whatever ends the lines of a file.
func TestLineBreaks(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r", "\u0085", "\u2028"} {
		s, p := newSource("room.yaml", t.TempDir(), []byte("version: room/v1"+end+"bogus: 1"+end+"policy: {use: quiet}"+end))
		if p != nil {
			t.Fatalf("%q: %v", end, p)
		}
		d := newDocument(testOptions.Lookup)
		d.start(s, "room.yaml")
		_, ps := d.load(testOptions)
		found := false
		for _, p := range ps {
			found = found || p.Line == 2 && p.Source == "bogus: 1"
		}
		if !found {
			t.Errorf("%q: %v", end, ps)
		}
	}
}

// FuzzLoad: no file makes the reader panic or hang, every problem has a position
// in the file, and an accepted file gives a specification.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{full, security, head, bomb(), head + "context: &x {summary: *x}\n", "a:\n\t- b", "\x00", "- ? [", "!!binary a", "\r\r?"} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		s, p := newSource("room.yaml", dir, text)
		if p != nil {
			if p.Line < 0 || p.Col < 0 || p.Code == "" {
				t.Fatalf("%+v", p)
			}
			return
		}
		d := newDocument(testOptions.Lookup)
		d.start(s, "room.yaml")
		r, ps := d.load(testOptions)
		for _, p := range ps {
			if p.Line < 1 || p.Line > len(s.lines)+1 || p.Code == "" || p.What == "" {
				t.Fatalf("%+v", p)
			}
		}
		if err := ps.Print(&strings.Builder{}); err != nil {
			t.Fatal(err)
		}
		if r == nil {
			return
		}
		spec, seats := r.Spec("r", "s")
		if _, err := json.Marshal(spec); err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(seats); err != nil {
			t.Fatal(err)
		}
	})
}
