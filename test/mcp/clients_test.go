package mcp

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A listing is what a client got: the tools, and the results of its calls.
type listing struct {
	Revision string
	Tools    []struct{ Name, Description string }
	Results  []result
}

type result struct {
	IsError           bool
	StructuredContent json.RawMessage
	Content           []struct{ Text string }
}

func (r result) text() string {
	var all strings.Builder
	for _, c := range r.Content {
		all.WriteString(c.Text)
	}
	return all.String()
}

func (l listing) names() (names []string) {
	for _, d := range l.Tools {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	return names
}

// agentTools are those of an agent that the room drives.
var agentTools = []string{
	"ack_message", "create_agent_session", "get_session_state", "hand_off", "list_rooms", "post_message", "pull_messages", "read_room", "send_agent_message",
}

// allTools are those of a worker that holds its seat as a session and may call agents: all
// that there are.
var allTools = slices.Sorted(slices.Values(append([]string{
	"answer_turn", "await_turn", "call_agent", "cancel_call", "claim_task", "get_call", "pass_turn", "reply_call",
}, agentTools...)))

// A call is one of a tool.
type call struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

// job is what client.mjs does.
type job struct {
	SDK     string            `json:"sdk"`
	Era     string            `json:"era"`
	URL     string            `json:"url,omitempty"`
	Token   string            `json:"token,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Calls   []call            `json:"calls"`
}

// connect makes a job use a server over HTTP, or a process that talks to it.
func (j *job) connect(transport, url, token string) {
	if transport == "http" {
		j.URL, j.Token = url+"/mcp", token
		return
	}
	j.Command, j.Args, j.Env = "moot", []string{"mcp", "--server", url}, map[string]string{"MOOT_TOKEN": token}
}

// TestTypeScript lists and calls tools with the TypeScript SDK.
func TestTypeScript(t *testing.T) {
	program := node(t)
	x := newHost(t)
	for _, c := range []struct{ sdk, era, revision string }{{"v1", "legacy", "2025-11-25"}, {"v2", "legacy", "2025-11-25"}, {"v2", "modern", "2026-07-28"}} {
		for _, transport := range transports {
			t.Run(c.sdk+" "+c.era+" "+transport, func(t *testing.T) {
				j := job{SDK: c.sdk, Era: c.era, Calls: []call{
					{"read_room", map[string]any{}},
					{"read_room", map[string]any{"room": "r_none"}},
				}}
				j.connect(transport, x.url, x.token(t, "bot"))
				arg, err := json.Marshal(j)
				if err != nil {
					t.Fatal(err)
				}
				var got listing
				output(t.Context(), t, &got, program, "client.mjs", string(arg))
				if got.Revision != "" && got.Revision != c.revision {
					t.Errorf("the revision is %s", got.Revision)
				}
				if names := got.names(); !slices.Equal(names, agentTools) {
					t.Errorf("the tools are %v", names)
				}
				if len(got.Results) != 2 || got.Results[0].IsError || !strings.Contains(got.Results[0].text(), "find the error") ||
					!got.Results[1].IsError || !strings.Contains(got.Results[1].text(), "[API-FORBIDDEN]") {
					t.Errorf("the results are %+v", got.Results)
				}
			})
		}
	}
}

// TestInspector lists and calls tools with the Inspector, which also checks the schemas
// of all of them, and warns of what some clients do not take.
func TestInspector(t *testing.T) {
	program := node(t)
	x := hostOf(t, teamRoom)
	inspector := filepath.Join("node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	for _, era := range []string{"legacy", "modern"} {
		for _, transport := range transports {
			t.Run(era+" "+transport, func(t *testing.T) {
				token := x.token(t, "dba")
				inspect := func(v any, args ...string) {
					t.Helper()
					args = append([]string{inspector, "--cli", "--protocol-era", era, "--format", "json", "--quiet"}, args...)
					if transport == "http" {
						args = append(args, "--transport", "http", "--header", "Authorization: Bearer "+token, "--", x.url+"/mcp")
					} else {
						args = append(args, "--transport", "stdio", "-e", "MOOT_TOKEN="+token, "--", "moot", "mcp", "--server", x.url)
					}
					if warned := output(t.Context(), t, v, program, args...); strings.Contains(warned, "Warning:") {
						t.Error("the Inspector has warnings")
					}
				}
				var list struct{ Result listing }
				inspect(&list, "--method", "tools/list", "--strict")
				if names := list.Result.names(); !slices.Equal(names, allTools) {
					t.Errorf("the tools are %v", names)
				}
				var called struct{ Result result }
				inspect(&called, "--method", "tools/call", "--tool-name", "read_room")
				if called.Result.IsError || !strings.Contains(called.Result.text(), "Migrate the table.") {
					t.Errorf("the result is %+v", called.Result)
				}
			})
		}
	}
}
