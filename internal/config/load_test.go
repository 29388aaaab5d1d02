package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
)

// head is a valid file of five lines. A test appends text from line 6.
const head = `version: room/v1
policy: {use: alternate}
participants:
  - {id: a, endpoint: &say {kind: scripted, lines: [hi]}}
  - {id: b, endpoint: *say}
`

// write puts files into a new folder and returns the path of room.yaml.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "room.yaml")
}

var testOptions = Options{
	Policies:     []string{"alternate", "mention", "roundrobin"},
	AgentProgram: func(agent string) (program, install string) { return "no-such-" + agent, "npm install" },
	CheckScript: func(name string, text []byte) error {
		if string(text) == "text" {
			return errors.New(name + ":1: is not a script")
		}
		return nil
	},
	Lookup: func(name string) (string, bool) {
		v, ok := map[string]string{"NAME": "Ana", "EMPTY": "", "GREETING_TOKEN": "hunter2"}[name]
		return v, ok
	},
}

// brief formats problems as "line:col CODE", with a ? after warnings.
func brief(ps Problems) string {
	var out []string
	for _, p := range ps {
		s := fmt.Sprintf("%d:%d %s", p.Line, p.Col, p.Code)
		if p.Warning {
			s += "?"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// seats is the start of a file up to the participants.
const seats = "version: room/v1\npolicy: {use: alternate}\nparticipants:\n"

// problems are files with the expected problems: line, column and code.
var problems = []struct{ name, yaml, want string }{
	{"fine", head, ""},

	// the file itself
	{"empty", "", "0:0 ROOM-YAML"},
	{"comment only", "# nothing\n", "0:0 ROOM-YAML"},
	{"a list", "- a\n", "1:1 ROOM-TYPE"},
	{"a word", "hello\n", "1:1 ROOM-TYPE"},
	{"two documents", head + "---\nversion: room/v1\n", "6:1 ROOM-YAML"},
	{"tab", "version: room/v1\npolicy:\n\tuse: mention\n", "3:1 ROOM-YAML"},
	{"tab within a block scalar", head + "objective: |\n  a\n  \tb\n", ""},
	{"unclosed on a later line", head + "include: [{x].yaml]\n", "6:1 ROOM-YAML"},
	{"unclosed", "version: [room/v1\n", "1:1 ROOM-YAML"},
	{"latin-1", "version: room/v1\nname: caf\xe9\n", "2:10 ROOM-UTF8"},
	{"UTF-16", "\xff\xfev\x00e\x00", "1:1 ROOM-UTF8"},
	{"byte order mark", "\ufeff" + head, ""},
	{"CRLF", strings.ReplaceAll(head+"limits: {maxTurn: 3}\n", "\n", "\r\n"), "6:10 ROOM-KEY"},
	{"over a mebibyte", head + "#" + strings.Repeat("x", MaxFileBytes), "0:0 ROOM-SIZE"},
	{"NUL", "version: \x00\n", "1:10 ROOM-UTF8"},

	// YAML beyond JSON
	{"duplicate key", head + "name: a\nname: b\n", "7:1 ROOM-DUPLICATE-KEY"},
	{"duplicate key deep down", head + "limits: {maxTurns: 1, maxTurns: 2}\n", "6:23 ROOM-DUPLICATE-KEY"},
	{"merge key", head + "x: &x {maxTurns: 1}\nlimits:\n  <<: *x\n", "6:1 ROOM-KEY, 8:3 ROOM-KEY"},
	{"a key that is a list", head + "limits:\n  ? [a]\n  : b\n", "7:5 ROOM-TYPE"},
	{"tag", head + "name: !secret x\n", "6:7 ROOM-TYPE"},
	{"binary", head + "name: !!binary aGk=\n", "6:7 ROOM-TYPE"},
	{"alias bomb", bomb(), "1:10 ROOM-ALIAS"},
	{"anchor that contains itself", head + "context: &x {summary: *x}\n", "6:10 ROOM-ALIAS"},
	{"not a number", head + "limits: {maxCost: .nan}\n", "6:19 ROOM-VALUE"},
	{"infinite", head + "limits: {maxCost: .inf}\n", "6:19 ROOM-VALUE"},
	{"explores too often", strings.Replace(seats, "alternate", "alternate, explore: 1.5", 1) + "  - {id: a, endpoint: {kind: scripted, lines: []}}\n", "2:35 ROOM-VALUE"},
	{"explores too rarely", strings.Replace(seats, "alternate", "alternate, explore: -0.1", 1) + "  - {id: a, endpoint: {kind: scripted, lines: []}}\n", "2:35 ROOM-VALUE"},
	{"explores in words", strings.Replace(seats, "alternate", "alternate, explore: 5%", 1) + "  - {id: a, endpoint: {kind: scripted, lines: []}}\n", "2:35 ROOM-TYPE"},
	{"hexadecimal", head + "limits: {maxTurns: 0x10}\n", ""},

	// the schema
	{"required keys missing", "name: x\n", "1:1 ROOM-MISSING"},
	{"version", strings.Replace(head, "room/v1", "room/v2", 1), "1:10 ROOM-VALUE"},
	{"unknown key at the top", head + "limts: {}\n", "6:1 ROOM-KEY"},
	{"unknown key, wrong case", head + "Limits: {}\n", "6:1 ROOM-KEY"},
	{"unknown keys below", head + "limits: {x: 1}\ncontext: {y: 1, summary: {z: 1}}\n", "6:10 ROOM-KEY, 7:11 ROOM-KEY, 7:27 ROOM-KEY"},
	{"unknown key of a seat", seats + "  - {id: a, colour: red, endpoint: {kind: scripted, lines: []}}\n", "4:13 ROOM-KEY"},
	{"unknown agent", seats + "  - {id: a, endpoint: {kind: acp, agent: clod}}\n", "4:42 ROOM-VALUE"},
	{"neither agent nor command", seats + "  - {id: a, endpoint: {kind: acp, cwd: .}}\n", "4:23 ROOM-MISSING"},
	{"an agent that is not installed", seats + "  - {id: a, endpoint: {kind: acp, agent: gemini}}\n", "4:42 ROOM-COMMAND"},
	{"an agent with another program", seats + "  - {id: a, endpoint: {kind: acp, agent: gemini, command: [sh, -c, exit], say: all, restart: 0}}\n", ""},
	{"unknown key of an endpoint", seats + "  - {id: a, endpoint: {kind: scripted, lines: [], url: x}}\n", "4:51 ROOM-KEY"},
	{"unknown kind", seats + "  - {id: a, endpoint: {kind: telepathy}}\n", "4:30 ROOM-VALUE"},
	{"no kind", seats + "  - {id: a, endpoint: {lines: []}}\n", "4:23 ROOM-MISSING"},
	{"script and lines", seats + "  - {id: a, endpoint: {kind: scripted, lines: [], script: x}}\n", "4:23 ROOM-MISSING"},
	{"bad id", seats + "  - {id: 1st, endpoint: {kind: scripted, lines: []}}\n", "4:10 ROOM-VALUE"},
	{"id is a number", seats + "  - {id: 17, endpoint: {kind: scripted, lines: []}}\n", "4:10 ROOM-TYPE"},
	{"empty value", head + "limits:\n  maxTurns:\n", "7:12 ROOM-TYPE"},
	{"fraction", head + "limits: {maxTurns: 1.5}\n", "6:20 ROOM-TYPE"},
	{"zero", head + "limits: {maxTurns: 0}\n", "6:20 ROOM-VALUE"},
	{"huge", head + "limits: {maxTurns: 99999999999999999999}\n", "6:20 ROOM-VALUE"},
	{"duration without a unit", head + "limits: {maxDuration: 10}\n", "6:23 ROOM-TYPE"},
	{"zero duration", head + "limits: {maxDuration: 0s}\n", "6:23 ROOM-VALUE"},
	{"a hundred years", head + "limits: {maxDuration: 876000h}\n", "6:23 ROOM-VALUE"},
	{"variable name in env", seats + "  - {id: a, endpoint: {kind: ndjson, command: [sh], env: {A-B: x}}}\n", "4:59 ROOM-KEY"},

	// variables
	{"unset", head + "objective: for ${NOBODY}\n", "6:12 ROOM-VARIABLE"},
	{"unset with a default", head + "objective: for ${NOBODY:-all}\n", ""},
	{"unset with a message", head + "objective: ${NOBODY:?say whom}\n", "6:12 ROOM-VARIABLE"},
	{"malformed", head + "objective: ${NO BODY}\n", "6:12 ROOM-VARIABLE"},
	{"unclosed variable", head + "objective: ${NAME\n", "6:12 ROOM-VARIABLE"},
	{"a variable is text", head + "limits: {maxTurns: \"${NAME}\"}\n", "6:20 ROOM-TYPE"},
	{"keys are not expanded", head + "${NAME}: x\n", "6:1 ROOM-KEY"},
	{"secret in a prompt", head + "objective: ${GREETING_TOKEN}\n", "6:12 ROOM-SECRET"},
	{"secret for an agent", seats + "  - {id: a, endpoint: {kind: ndjson, command: [sh], env: {T: \"${GREETING_TOKEN}\"}}}\n", ""},
	{"secret in the file", seats + "  - {id: a, endpoint: {kind: ndjson, command: [sh], env: {MY_API_KEY: abc}}}\n", "4:71 ROOM-SECRET"},

	// model servers
	{"a model", seats + "  - {id: a, endpoint: {kind: openai, model: m, temperature: 0, maxOutputTokens: 9}}\n", ""},
	{"a model of a server", seats + "  - {id: a, endpoint: {kind: openai, baseURL: \"https://${NAME}.example/v1\", model: m, apiKey: \"${GREETING_TOKEN}\"}}\n", ""},
	{"a key that may be missing", seats + "  - {id: a, endpoint: {kind: openai, model: m, apiKey: \"${NOBODY:-}\"}}\n", ""},
	{"no key", seats + "  - {id: a, endpoint: {kind: openai, model: m, apiKey: \"${NOBODY}\"}}\n", "4:56 ROOM-VARIABLE"},
	{"no model", seats + "  - {id: a, endpoint: {kind: openai}}\n", "4:23 ROOM-MISSING"},
	{"a literal key", seats + "  - {id: a, endpoint: {kind: openai, model: m, apiKey: abc}}\n", "4:56 ROOM-SECRET"},
	{"a key behind a variable", seats + "  - {id: a, endpoint: {kind: openai, model: m, apiKey: \"${NOBODY:-abc}\"}}\n", "4:56 ROOM-SECRET"},
	{"a key with a variable", seats + "  - {id: a, endpoint: {kind: openai, model: m, apiKey: \"abc${NAME}\"}}\n", "4:56 ROOM-SECRET"},
	{"a key without encryption", seats + "  - {id: a, endpoint: {kind: openai, baseURL: \"http://example.org/v1\", model: m, apiKey: \"${GREETING_TOKEN}\"}}\n", "4:47 ROOM-SECRET?"},
	{"a key on this machine", seats + "  - {id: a, endpoint: {kind: openai, baseURL: \"http://[::1]:80/v1\", model: m, apiKey: \"${GREETING_TOKEN}\"}}\n", ""},
	{"no URL", seats + "  - {id: a, endpoint: {kind: openai, baseURL: localhost:11434, model: m}}\n", "4:47 ROOM-VALUE"},
	{"a user in the URL", seats + "  - {id: a, endpoint: {kind: openai, baseURL: \"http://a:hunter3@x/v1\", model: m}}\n", "4:47 ROOM-VALUE"},
	{"a query in the URL", seats + "  - {id: a, endpoint: {kind: openai, baseURL: \"http://x/v1?a=b\", model: m}}\n", "4:47 ROOM-VALUE"},
	{"hot", seats + "  - {id: a, endpoint: {kind: openai, model: m, temperature: 2.5}}\n", "4:61 ROOM-VALUE"},
	{"a model that remembers", seats + "  - {id: a, remembers: true, endpoint: {kind: openai, model: m}}\n", "4:24 ROOM-VALUE"},

	// A2A agents
	{"an A2A agent", seats + "  - {id: a, endpoint: {kind: a2a, url: \"https://${NAME}.example/a\", token: \"${GREETING_TOKEN}\"}}\n", ""},
	{"an A2A agent on this machine", seats + "  - {id: a, remembers: true, endpoint: {kind: a2a, url: \"http://localhost:4000\"}}\n", ""},
	{"no URL of an agent", seats + "  - {id: a, endpoint: {kind: a2a}}\n", "4:23 ROOM-MISSING"},
	{"an agent without encryption", seats + "  - {id: a, endpoint: {kind: a2a, url: \"http://example.org\"}}\n", "4:40 ROOM-VALUE"},
	{"a user of an agent", seats + "  - {id: a, endpoint: {kind: a2a, url: \"https://a:hunter3@x\"}}\n", "4:40 ROOM-VALUE"},
	{"a literal token", seats + "  - {id: a, endpoint: {kind: a2a, url: \"https://x\", token: abc}}\n", "4:60 ROOM-SECRET"},
	{"a limit on an A2A agent", seats + "  - {id: a, maxTokens: 9, endpoint: {kind: a2a, url: \"https://x\"}}\n", "4:24 ROOM-USAGE?"},

	// instructions
	{"instructions", seats + "  - {id: a, instructions: \"For ${NAME}.\", endpoint: {kind: scripted, lines: []}}\n", ""},
	{"instructions in a file", seats + "  - {id: a, instructions: {file: notes.txt}, endpoint: {kind: scripted, lines: []}}\n", ""},
	{"no file of instructions", seats + "  - {id: a, instructions: {file: nots.txt}, endpoint: {kind: scripted, lines: []}}\n", "4:27 ROOM-INSTRUCTIONS"},
	{"a folder of instructions", seats + "  - {id: a, instructions: {file: sub}, endpoint: {kind: scripted, lines: []}}\n", "4:27 ROOM-INSTRUCTIONS"},
	{"instructions that are no text", seats + "  - {id: a, instructions: {file: latin.txt}, endpoint: {kind: scripted, lines: []}}\n", "4:27 ROOM-INSTRUCTIONS"},
	{"instructions that are too long", seats + "  - {id: a, instructions: {file: long.txt}, endpoint: {kind: scripted, lines: []}}\n", "4:27 ROOM-INSTRUCTIONS"},
	{"blank instructions", seats + "  - {id: a, instructions: \" \", endpoint: {kind: scripted, lines: []}}\n", "4:27 ROOM-INSTRUCTIONS"},
	{"empty instructions", seats + "  - {id: a, instructions: \"\", endpoint: {kind: scripted, lines: []}}\n", "4:27 ROOM-VALUE"},
	{"instructions in a list", seats + "  - {id: a, instructions: [x], endpoint: {kind: scripted, lines: []}}\n", "4:27 ROOM-TYPE"},
	{"instructions in another key", seats + "  - {id: a, instructions: {path: x}, endpoint: {kind: scripted, lines: []}}\n", "4:27 ROOM-MISSING, 4:28 ROOM-KEY"},
	{"instructions of another owner's agent", seats + "  - {id: a, owner: dana, instructions: x, endpoint: {kind: scripted, lines: []}}\n", "4:40 ROOM-INSTRUCTIONS"},
	{"instructions of a person", head + "  - {id: ana, kind: human, instructions: x}\n", "6:42 ROOM-HUMAN?"},
	{"a secret in instructions", seats + "  - {id: a, instructions: \"${GREETING_TOKEN}\", endpoint: {kind: scripted, lines: []}}\n", "4:27 ROOM-SECRET"},

	// semantics
	{"same id", seats + "  - {id: a, endpoint: {kind: scripted, lines: []}}\n  - {id: a, endpoint: {kind: scripted, lines: []}}\n", "5:10 ROOM-DUPLICATE-ID"},
	{"same id in another case", seats + "  - {id: Sec, endpoint: {kind: scripted, lines: []}}\n  - {id: sec, endpoint: {kind: scripted, lines: []}}\n", "5:10 ROOM-DUPLICATE-ID"},
	{"confusable ids", seats + "  - {id: db0, endpoint: {kind: scripted, lines: []}}\n  - {id: dbO, endpoint: {kind: scripted, lines: []}}\n", "5:10 ROOM-DUPLICATE-ID?"},
	{"reserved", seats + "  - {id: Policy, endpoint: {kind: scripted, lines: []}}\n", "4:10 ROOM-RESERVED-ID"},
	{"manager and worker are not reserved", seats + "  - {id: manager, endpoint: {kind: scripted, lines: []}}\n  - {id: worker, endpoint: {kind: scripted, lines: []}}\n", ""},
	{"an agent without endpoint", seats + "  - {id: a}\n", "4:5 ROOM-ENDPOINT"},
	{"a person with an endpoint", head + "  - {id: ana, kind: human, endpoint: *say}\n", "6:38 ROOM-ENDPOINT"},
	{"a person with a mode", head + "  - {id: ana, kind: human, mode: manual}\n", "6:34 ROOM-HUMAN?"},
	{"people only", seats + "  - {id: ana, kind: human}\n", "4:3 ROOM-NOBODY"},
	{"no participants", "version: room/v1\npolicy: {use: alternate}\nparticipants: []\n", "3:15 ROOM-VALUE"},
	{"no such policy", strings.Replace(head, "alternate", "menton", 1), "2:15 ROOM-POLICY"},
	{"no policy at that path", strings.Replace(head, "alternate", "./polite", 1), "2:15 ROOM-POLICY"},
	{"no such program", seats + "  - {id: a, endpoint: {kind: ndjson, command: [no-such-program-here]}}\n", "4:48 ROOM-COMMAND"},
	{"no program at the path", seats + "  - {id: a, endpoint: {kind: ndjson, command: [./agnet.sh]}}\n", "4:48 ROOM-COMMAND"},
	{"not executable", seats + "  - {id: a, endpoint: {kind: ndjson, command: [./notes.txt]}}\n", "4:48 ROOM-COMMAND"},
	{"a folder", seats + "  - {id: a, endpoint: {kind: ndjson, command: [./sub]}}\n", "4:48 ROOM-COMMAND"},
	{"executable", seats + "  - {id: a, endpoint: {kind: ndjson, command: [./agent.sh], cwd: ./sub}}\n", ""},
	{"an argument that is a missing file", seats + "  - {id: a, endpoint: {kind: ndjson, command: [sh, ./agnet.sh]}}\n", "4:52 ROOM-COMMAND?"},
	{"no cwd", seats + "  - {id: a, endpoint: {kind: ndjson, command: [sh], cwd: ./nowhere}}\n", "4:58 ROOM-CWD"},
	{"cwd is a file", seats + "  - {id: a, endpoint: {kind: ndjson, command: [sh], cwd: ./notes.txt}}\n", "4:58 ROOM-CWD"},
	{"no script", seats + "  - {id: a, endpoint: {kind: scripted, script: ./lines.txt}}\n", "4:48 ROOM-SCRIPT"},
	{"a broken script", seats + "  - {id: a, endpoint: {kind: scripted, script: notes.txt}}\n", "4:48 ROOM-SCRIPT"},
	{"a script that is a folder", seats + "  - {id: a, endpoint: {kind: scripted, script: sub}}\n", "4:48 ROOM-SCRIPT"},
	{"one-to-one of three", head + "  - {id: c, endpoint: *say}\noneToOne: true\n", "7:11 ROOM-ONE-TO-ONE"},
	{"one-to-one with a person", head + "  - {id: ana, kind: human}\noneToOne: true\n", ""},
	{"allow everything", seats + "  - {id: a, allow: [{kind: execute}], endpoint: {kind: scripted, lines: []}}\n", "4:21 ROOM-ALLOW"},
	{"allow any program", seats + "  - {id: a, allow: [{kind: read}, {kind: execute, argv: ['*']}], endpoint: {kind: scripted, lines: []}}\n", "4:35 ROOM-ALLOW"},
	{"allow an unknown kind", seats + "  - {id: a, allow: [{kind: other}], endpoint: {kind: scripted, lines: []}}\n", "4:28 ROOM-VALUE"},
	{"allow for another owner", seats + "  - {id: a, owner: bob, allow: [{kind: read}], endpoint: {kind: scripted, lines: []}}\n", "4:32 ROOM-ALLOW"},
	{"allow for a person", seats + "  - {id: a, kind: human, allow: [{kind: read}]}\n", "4:3 ROOM-NOBODY, 4:33 ROOM-HUMAN?"},
	{"review without semi_auto", seats + "  - {id: a, mode: full_auto, review: {longerThan: 9}, endpoint: {kind: scripted, lines: []}}\n", "4:38 ROOM-REVIEW?"},
	{"cooldown of a single agent", seats + "  - {id: a, cooldown: 1, endpoint: {kind: scripted, lines: []}}\n", "4:23 ROOM-COOLDOWN"},
	{"cooldown of both", seats + "  - {id: a, cooldown: 1, endpoint: {kind: scripted, lines: []}}\n  - {id: b, cooldown: 1, endpoint: {kind: scripted, lines: []}}\n", ""},
	{"two managers", seats + "  - {id: a, role: manager, endpoint: {kind: scripted, lines: []}}\n  - {id: b, role: Manager, kind: human}\n  - {id: c, role: manager of b, kind: human}\n", "5:19 ROOM-MANAGERS"},
	{"cooldown of both, one too long", seats + "  - {id: a, cooldown: 1, endpoint: {kind: scripted, lines: []}}\n  - {id: b, cooldown: 2, endpoint: {kind: scripted, lines: []}}\n", "5:23 ROOM-COOLDOWN"},
	{"cooldown of one, the other free", seats + "  - {id: a, cooldown: 9, endpoint: {kind: scripted, lines: []}}\n  - {id: b, endpoint: {kind: scripted, lines: []}}\n", ""},
	{"failures beyond the turns", head + "limits: {maxTurns: 2, maxFailures: 3}\n", "6:36 ROOM-LIMIT?"},
	{"timeout beyond the end", head + "limits: {maxDuration: 1m, turnTimeout: 2m}\n", "6:40 ROOM-LIMIT?"},
	{"cost without a price", head + "limits: {maxCost: 1}\n", "6:19 ROOM-LIMIT?"},
	{"cost that an agent may state", seats + "  - {id: a, endpoint: {kind: ndjson, command: [sh]}}\nlimits: {maxCost: 1}\n", ""},
	{"a budget for a person", seats + "  - {id: a, endpoint: {kind: scripted, lines: [x]}}\n  - {id: p, kind: human, budget: {day: {turns: 3}}}\n", "5:34 ROOM-HUMAN?"},
	{"a budget of an agent that states no usage", seats + "  - {id: a, budget: {day: {tokens: 9}, room: {turns: 1}}, endpoint: {kind: command, command: [sh]}}\n", "4:27 ROOM-USAGE?"},
	{"a budget that is never reached", seats + "  - {id: a, budget: {hour: {turns: 9}, day: {turns: 3}, room: {cost: 0.5}}, endpoint: {kind: scripted, lines: [x]}}\n", "4:36 ROOM-LIMIT?, 4:70 ROOM-LIMIT?"},
	{"an empty budget", seats + "  - {id: a, budget: {week: {turns: 9}, day: {}}, endpoint: {kind: scripted, lines: [x]}}\n", "4:22 ROOM-KEY, 4:45 ROOM-VALUE"},
	{"tokens of an agent that states none", seats + "  - {id: a, maxTokens: 9, endpoint: {kind: command, command: [sh]}}\nlimits: {maxTokens: 9}\n", "4:24 ROOM-USAGE?, 5:21 ROOM-USAGE?"},
	{"cost of an agent that states none", seats + "  - {id: a, price: {input: 1}, endpoint: {kind: command, command: [sh]}}\nlimits: {maxCost: 1}\n", "5:19 ROOM-USAGE?"},
	{"tokens of agents that may state none", seats + "  - {id: a, maxTokens: 9, endpoint: {kind: acp, agent: qwen, command: [sh]}}\n  - {id: b, maxTokens: 9, endpoint: {kind: acp, command: [sh]}}\n  - {id: c, maxTokens: 9, endpoint: {kind: acp, agent: claude, command: [sh]}}\n", "5:24 ROOM-USAGE?"},
	{"no limit for an agent that states none", seats + "  - {id: a, endpoint: {kind: command, command: [sh]}}\n", ""},
	{"a price of nothing for cached input", seats + "  - {id: a, price: {cachedInput: 0}, endpoint: {kind: scripted, lines: []}}\n", "4:34 ROOM-VALUE"},
	{"an agent for calls", head + "agents:\n  - {id: c, endpoint: {kind: scripted, lines: [hi]}}\n", ""},
	{"a person among the agents", head + "agents:\n  - {id: c, kind: human}\n", "7:19 ROOM-AGENT"},
	{"a session among the agents", head + "agents:\n  - {id: c, endpoint: {kind: session}}\n", "7:5 ROOM-AGENT"},
	{"an agent with the id of a participant", head + "agents:\n  - {id: a, endpoint: {kind: scripted, lines: [hi]}}\n", "7:10 ROOM-DUPLICATE-ID"},
	{"an agent without an endpoint", head + "agents:\n  - {id: c}\n", "7:5 ROOM-ENDPOINT"},
	{"tools", seats + "  - {id: a, tools: [read, search], delegate: [], endpoint: {kind: scripted, lines: []}}\n", ""},
	{"tools of another word", seats + "  - {id: a, tools: [write], endpoint: {kind: scripted, lines: []}}\n", "4:21 ROOM-VALUE"},
	{"tools twice", seats + "  - {id: a, delegate: [read, read], endpoint: {kind: scripted, lines: []}}\n", "4:23 ROOM-VALUE"},
	{"tools of a person", head + "  - {id: p, kind: human, tools: [read]}\n", "6:33 ROOM-HUMAN?"},
	{"tools of another owner's agent", head + "  - {id: q, owner: bob, tools: [read], endpoint: {kind: scripted, lines: []}}\n", "6:32 ROOM-ALLOW"},
	{"hand-offs to some", seats + "  - {id: a, handoffTo: [b, p], endpoint: {kind: scripted, lines: []}}\n  - {id: b, endpoint: {kind: scripted, lines: []}}\n  - {id: p, kind: human}\n", ""},
	{"a hand-off to nobody", seats + "  - {id: a, handoffTo: [b, c], endpoint: {kind: scripted, lines: []}}\n  - {id: b, endpoint: {kind: scripted, lines: []}}\n", "4:28 ROOM-HANDOFF"},
	{"a hand-off to itself", head + "  - {id: c, handoffTo: [c], endpoint: *say}\n", "6:25 ROOM-HANDOFF"},
	{"a hand-off of a person", head + "  - {id: p, kind: human, handoffTo: [a]}\n", "6:37 ROOM-HUMAN?"},
	{"calls of another word", seats + "  - {id: a, calls: \"yes\", endpoint: {kind: scripted, lines: []}}\n", "4:20 ROOM-VALUE"},
	{"depth over the limit", seats + "  - {id: a, maxSubAgentDepth: 6, endpoint: {kind: scripted, lines: []}}\n", "4:31 ROOM-VALUE"},
	{"calls of a person", head + "  - {id: p, kind: human, calls: allow}\n", "6:33 ROOM-HUMAN?"},
	{"same text beyond the window", head + "limits: {sameText: 5, sameTextOf: 4}\n", "6:20 ROOM-LIMIT?"},
}

func TestProblems(t *testing.T) {
	for _, c := range problems {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, map[string]string{
				"room.yaml": c.yaml, "notes.txt": "text", "latin.txt": "caf\xe9", "long.txt": strings.Repeat("ü", maxInstructions+1), "agent.sh": "#!/bin/sh\n", "sub/x": "",
			})
			r, ps := Load(path, testOptions)
			if got := brief(ps); got != c.want {
				t.Errorf("got  %s\nwant %s\n%v", got, c.want, ps)
			}
			if (r == nil) != (ps.Err() != nil) {
				t.Errorf("room %v with %d errors", r != nil, ps.Errors())
			}
			for _, p := range ps {
				if strings.Contains(p.What+p.Hint, "hunter2") || strings.Contains(p.Source, "abc") {
					t.Errorf("a secret is shown: %+v", p)
				}
			}
		})
	}
}

// TestOldSpellings: the keys that were not in camelCase still work, and each
// warning has the fix.
func TestOldSpellings(t *testing.T) {
	const text = head + `  - {id: c, max_tokens: 7, allow_tool_use: true, mode: semi_auto, endpoint: *say,
     review: {confidence_below: 0.1, longer_than: 5, first_contact: true}}
one_to_one: false
`
	load := func(text string) (*Room, Problems) {
		return Load(write(t, map[string]string{"room.yaml": text}), testOptions)
	}
	old, ps := load(text)
	renamed := text
	for _, k := range oldKeys() {
		renamed = strings.Replace(renamed, k.old+":", k.now+":", 1)
	}
	now, clean := load(renamed)
	if old == nil || now == nil || len(clean) != 0 || len(ps) != len(oldKeys()) {
		t.Fatalf("old %v, new %v", ps, clean)
	}
	for i, hint := range []string{"maxTokens", "allowToolUse", "confidenceBelow", "longerThan", "firstContact", "oneToOne"} {
		if p := ps[i]; !p.Warning || p.Code != "ROOM-RENAMED" || p.Hint != "write "+hint || p.Line == 0 {
			t.Errorf("%+v, want write %s", p, hint)
		}
	}
	if !reflect.DeepEqual(old.Participants[2].Seat, now.Participants[2].Seat) || now.Participants[2].Seat.MaxTokens != 7 || !now.Participants[2].Seat.Review.FirstContact {
		t.Errorf("old %+v\nnew %+v", old.Participants[2].Seat, now.Participants[2].Seat)
	}
	if _, ps := load(strings.Replace(text, "max_tokens: 7", "max_tokens: 7, maxTokens: 8", 1)); ps.Errors() != 1 || !slices.ContainsFunc(ps, func(p Problem) bool { return p.Code == "ROOM-DUPLICATE-KEY" }) {
		t.Errorf("both spellings: %v", ps)
	}
}

// TestNoteSpellings: the keys of the note about calls mean those of room.yaml.
func TestNoteSpellings(t *testing.T) {
	const text = seats + `  - {id: a, allow_sub_agent_calls: true, max_sub_agent_depth: 2, endpoint: {kind: scripted, lines: [hi]}}
  - {id: b, allow_sub_agent_calls: false, endpoint: {kind: scripted, lines: [hi]}}
agents:
  - {id: c, allow_sub_agent_calls: true, endpoint: {kind: scripted, lines: [hi]}}
`
	r, ps := Load(write(t, map[string]string{"room.yaml": text}), testOptions)
	if r == nil || ps.Errors() > 0 || len(ps) != 4 {
		t.Fatalf("%v", ps)
	}
	a, b, c := r.Participants[0].Seat, r.Participants[1].Seat, r.Agents[0].Seat
	if a.Calls != room.CallsAllow || a.MaxSubAgentDepth != 2 || b.Calls != room.CallsDeny || c.Calls != room.CallsAllow || c.Mode != room.FullAuto {
		t.Errorf("%+v\n%+v\n%+v", a, b, c)
	}
	if spec, _ := r.Spec("r1", "s"); len(spec.Agents) != 1 || spec.Agents[0].ID != "c" {
		t.Errorf("%+v", spec.Agents)
	}
}

// TestToolRights: a list that is empty stays one, and one that is absent stays absent.
func TestToolRights(t *testing.T) {
	r, ps := Load(write(t, map[string]string{"room.yaml": seats + `  - {id: a, tools: [], endpoint: {kind: scripted, lines: [hi]}}
  - {id: b, role: manager, delegate: [edit, read], endpoint: {kind: scripted, lines: [hi]}}
`}), testOptions)
	if r == nil {
		t.Fatal(ps)
	}
	a, b := r.Participants[0].Seat, r.Participants[1].Seat
	if a.MayUse == nil || len(a.MayUse) > 0 || a.MayDelegate != nil || b.MayUse != nil || !slices.Equal(b.MayDelegate, []string{"edit", "read"}) {
		t.Errorf("%+v\n%+v", a, b)
	}
}

// TestNobodyBegins: a policy that waits for a message needs one.
func TestNobodyBegins(t *testing.T) {
	for _, c := range []struct {
		policy, more string
		headless     bool
		want         string
	}{
		{"mention", "", false, "2:15 ROOM-SILENT?"},
		{"Mention", "", false, "2:15 ROOM-SILENT?"},
		{"mention", "  - {id: ana, kind: human}\n", false, ""},
		{"mention", "  - {id: ana, kind: human}\n", true, "2:15 ROOM-SILENT?"},
		{"mention", "objective: Say hello.\n", false, "2:15 ROOM-SILENT?"},
		{"mention", "objective: Say hello.\nopening: Begin, zed.\n", false, ""},
		{"mention", "objective: Say zed.\n", false, ""},
		{"mention, settings: {fallback: roundrobin}", "", false, ""},
		{"mention, settings: {fallback: inbox}", "", false, "2:15 ROOM-SILENT?"},
		{"inbox", "", false, "2:15 ROOM-SILENT?"},
		{"inbox", "objective: Say hello.\n", false, ""},
		{"humanfirst", "", false, "2:15 ROOM-SILENT?"},
		{"roundrobin", "", false, ""},
		{"quiet", "", false, ""},
		{"wasteguard", "", false, ""},
		{"wasteguard, settings: {fallback: decline}", "", false, "2:15 ROOM-SILENT?"},
		{"wasteguard, settings: {fallback: humanfirst}", "", false, "2:15 ROOM-SILENT?"},
		{"wasteguard, settings: {fallback: quiet}", "", false, ""},
	} {
		o := testOptions
		o.Policies, o.Headless = []string{"mention", "inbox", "humanfirst", "roundrobin", "quiet", "wasteguard"}, c.headless
		text := "version: room/v1\npolicy: {use: " + c.policy + "}\nparticipants:\n  - {id: zed, mode: full_auto, endpoint: {kind: scripted, lines: [hi]}}\n" + c.more
		if _, ps := LoadText([]byte(text), "", o); brief(ps) != c.want {
			t.Errorf("%+v: %v", c, ps)
		}
	}
}

func TestPolicyName(t *testing.T) {
	names := []string{"mention", "roundrobin", "my-own", "myown"}
	for use, want := range map[string]string{
		"round-robin": "roundrobin", "round_robin": "roundrobin", "RoundRobin": "roundrobin", "Mention": "mention",
		"my-own": "my-own", "myown": "myown", "MyOwn": "", "robin": "",
	} {
		if got, ok := PolicyName(use, names); got != want || ok != (want != "") {
			t.Errorf("%s means %q, want %q", use, got, want)
		}
	}
	r, ps := Load(write(t, map[string]string{"room.yaml": strings.Replace(head, "alternate", "Alter-Nate", 1)}), testOptions)
	if r == nil || r.Policy.Use != "alternate" {
		t.Errorf("%+v, %v", r, ps)
	}
}

// bomb is nine levels of nine aliases: 387 million values in 500 bytes.
func bomb() string {
	var b strings.Builder
	b.WriteString("version: &x0 lol\n")
	for i := range 9 {
		fmt.Fprintf(&b, "x%d: &x%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*x%d,", i), 9), ","))
	}
	return b.String()
}

func TestHeadless(t *testing.T) {
	path := write(t, map[string]string{"room.yaml": `version: room/v1
policy: {use: alternate}
participants:
  - {id: a, endpoint: {kind: scripted, lines: [hi]}}
  - {id: b, mode: manual, endpoint: {kind: scripted, lines: [hi]}}
  - {id: c, mode: semi_auto, endpoint: {kind: scripted, lines: [hi]}}
  - {id: d, mode: full_auto, endpoint: {kind: scripted, lines: [hi]}}
  - {id: ana, kind: human}
`})
	if _, ps := Load(path, testOptions); len(ps) > 0 {
		t.Error(ps)
	}
	o := testOptions
	o.Headless = true
	_, ps := Load(path, o)
	if got, want := brief(ps), "4:5 ROOM-MANUAL, 5:19 ROOM-MANUAL, 6:19 ROOM-MANUAL?"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLoadMissing(t *testing.T) {
	_, ps := Load(filepath.Join(t.TempDir(), "room.yaml"), testOptions)
	if got := brief(ps); got != "0:0 ROOM-READ" {
		t.Error(got, ps)
	}
	_, ps = Load(t.TempDir(), testOptions)
	if got := brief(ps); got != "0:0 ROOM-READ" {
		t.Error(got, ps)
	}
}

func TestSettings(t *testing.T) {
	builtIn := false
	o := testOptions
	o.SettingsSchema = func(string) ([]byte, bool, error) {
		return []byte(`{"type": "object", "additionalProperties": false, "properties": {
			"first": {"type": "string", "format": "participant"},
			"order": {"type": "array", "items": {"type": "string", "format": "participant"}},
			"declineBelow": {"type": "number", "maximum": 1}}}`), builtIn, nil
	}
	for _, c := range []struct{ settings, want string }{
		{"{first: a, order: [b, a], declineBelow: 0.5}", ""},
		{"{frist: a}", "6:3 ROOM-SETTINGS"},
		{"{first: ''}", ""},
		{"{first: A}", "6:10 ROOM-UNKNOWN-ID"},
		{"{order: [a, c]}", "6:14 ROOM-UNKNOWN-ID"},
		{"{declineBelow: 2}", "6:17 ROOM-SETTINGS"},
	} {
		text := strings.Replace(head, "policy: {use: alternate}\n", "", 1) + "policy: {use: alternate, settings:\n " + c.settings + "}\n"
		for _, builtIn = range []bool{true, false} {
			_, ps := Load(write(t, map[string]string{"room.yaml": text}), o)
			if got := brief(ps); got != c.want {
				t.Errorf("%s, built in %v: got %s, want %s", c.settings, builtIn, got, c.want)
			}
		}
	}
}
