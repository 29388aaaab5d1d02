package acp

import (
	"strings"
	"sync"
)

// A ToolServer is a server of the Model Context Protocol whose tools the agent may
// use in a session. An agent that can reach servers over HTTP gets the URL, if there
// is one, and any other agent the command.
type ToolServer struct {
	Name    string
	URL     string   // of the streamable HTTP transport; "" is none
	Token   string   // the bearer for URL
	Command []string // with an absolute path; serves standard input and output; nil is none
	Env     []string // KEY=VALUE for Command
}

// secrets returns what must not appear in texts of errors.
func (t ToolServer) secrets() []string {
	all := []string{t.Token}
	for _, kv := range t.Env {
		_, v, _ := strings.Cut(kv, "=")
		all = append(all, v)
	}
	return all
}

// A toolServer is a ToolServer in the params of a session. The type is absent for a
// command.
type toolServer struct {
	Type    string      `json:"type,omitempty"`
	Name    string      `json:"name"`
	URL     string      `json:"url,omitempty"`
	Headers *[]variable `json:"headers,omitempty"`
	Command string      `json:"command,omitempty"`
	Args    *[]string   `json:"args,omitempty"`
	Env     *[]variable `json:"env,omitempty"`
}

// A variable is a header, or a variable of the environment.
type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// toolServers returns the servers for a session, with a credential of their own.
func (c *client) toolServers() []toolServer {
	none := []toolServer{}
	if c.cfg.Tools == nil {
		return none
	}
	t, ok := c.cfg.Tools()
	if !ok {
		return none
	}
	c.cfg.secrets.add(t.secrets())
	c.mu.Lock()
	http := c.agent.Capabilities.MCP.HTTP
	c.mu.Unlock()
	switch {
	case http && t.URL != "":
		return []toolServer{{Type: "http", Name: t.Name, URL: t.URL, Headers: &[]variable{{Name: "Authorization", Value: "Bearer " + t.Token}}}}
	case len(t.Command) > 0:
		args, env := t.Command[1:], make([]variable, len(t.Env))
		for i, kv := range t.Env {
			env[i].Name, env[i].Value, _ = strings.Cut(kv, "=")
		}
		return []toolServer{{Name: t.Name, Command: t.Command[0], Args: &args, Env: &env}}
	}
	return none
}

// A secretSet removes secrets that become known over time from texts of errors. It
// is safe for concurrent use.
type secretSet struct {
	mu    sync.Mutex
	known []string
}

// maxSecrets bounds the secrets that are remembered: those of the latest sessions.
const maxSecrets = 64

func (s *secretSet) add(secrets []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range secrets {
		if len(v) >= minSecret {
			s.known = append(s.known, v)
		}
	}
	s.known = s.known[max(0, len(s.known)-maxSecrets):]
}

func (s *secretSet) remove(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.known {
		text = strings.ReplaceAll(text, v, "[redacted]")
	}
	return text
}
