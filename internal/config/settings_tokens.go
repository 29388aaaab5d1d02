package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// tokensKey is the setting that is a file for `moot relay`, or a mapping from
// relays to the files with this device's tokens for them.
const tokensKey = "relay.tokens"

// A RelayToken is a file with this device's token for one relay.
type RelayToken struct {
	Host string // as in the relay's URL, in lower case; with the port if the URL has one
	File string // absolute path
}

// maxRelayTokens bounds the relays that the settings name.
const maxRelayTokens = 100

// readRelayTokens reads the mapping below relay.tokens. It returns nothing if
// the setting is absent or is a file.
func readRelayTokens(s *source) ([]RelayToken, *Problem) {
	relay, _ := child(s.root, "relay")
	n, _ := child(relay, "tokens")
	if n = follow(n); n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	if len(n.Content)/2 > maxRelayTokens {
		return nil, s.problemAt(n.Line, n.Column, "CONFIG-VALUE", fmt.Sprintf("%s names more than %d relays", tokensKey, maxRelayTokens))
	}
	var all []RelayToken
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], follow(n.Content[i+1])
		host := strings.ToLower(key.Value)
		p := s.problemAt(key.Line, key.Column, "CONFIG-VALUE", "")
		p.Hint = "write it as {relay.example.org: FILE}, with the port if the URL of the relay has one"
		switch {
		case host == "" || strings.ContainsAny(host, "/@?# \t"):
			p.What = fmt.Sprintf("%s: %.80q is not the host of a relay", tokensKey, key.Value)
			return nil, p
		case val.Kind != yaml.ScalarNode || val.Value == "":
			p.What = fmt.Sprintf("%s: the token for %s is %s, want a file", tokensKey, host, kindOf(val))
			return nil, p
		case slices.ContainsFunc(all, func(t RelayToken) bool { return t.Host == host }):
			p.What = fmt.Sprintf("%s names %s twice", tokensKey, host)
			return nil, p
		}
		file := Setting{Key: tokensKey, Value: val.Value}
		if err := file.makeAbsolute(filepath.Dir(s.name)); err != nil {
			p.What = err.Error()
			return nil, p
		}
		all = append(all, RelayToken{host, file.Value})
	}
	return all, nil
}

// notifyKey is the setting of what is run when something waits for a person.
const notifyKey = "notify"

// Notify says what is run when a draft or a permission request begins to wait for a
// person. The zero Notify runs nothing.
type Notify struct {
	Command []string // argv, never a shell command
	Text    bool     // whether the program gets the texts of agents
}

// maxNotifyWords bounds the words of notify.command.
const maxNotifyWords = 64

// readNotify reads the mapping below notify.
func readNotify(s *source) (n Notify, p *Problem) {
	m, _ := child(s.root, notifyKey)
	if m = follow(m); m == nil {
		return n, nil
	}
	fail := func(at *yaml.Node, code, what, hint string) (Notify, *Problem) {
		p := s.problemAt(at.Line, at.Column, code, what)
		p.Hint = hint
		return Notify{}, p
	}
	const form = "write it as notify: {command: [PROGRAM, ARGUMENT], text: true}"
	if m.Kind != yaml.MappingNode {
		return fail(m, "CONFIG-VALUE", notifyKey+" is "+kindOf(m)+", want a mapping", form)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, val := m.Content[i], follow(m.Content[i+1])
		switch {
		case seen[key.Value]:
			return fail(key, "CONFIG-KEY", fmt.Sprintf("%q is set twice", notifyKey+"."+key.Value), form)
		case key.Value == "text":
			if val.Tag != "!!bool" || val.Decode(&n.Text) != nil {
				return fail(val, "CONFIG-VALUE", "notify.text is "+kindOf(val)+", want true or false", form)
			}
		case key.Value == "command":
			words := func(w *yaml.Node) bool { return follow(w).Kind != yaml.ScalarNode || follow(w).Value == "" }
			if val.Kind != yaml.SequenceNode || len(val.Content) == 0 || len(val.Content) > maxNotifyWords || slices.ContainsFunc(val.Content, words) {
				return fail(val, "CONFIG-VALUE", "notify.command is no list of a program and its arguments", form)
			}
			for _, w := range val.Content {
				n.Command = append(n.Command, follow(w).Value)
			}
		default:
			return fail(key, "CONFIG-KEY", fmt.Sprintf("unknown setting %q", notifyKey+"."+key.Value), form)
		}
		seen[key.Value] = true
	}
	if len(n.Command) > 0 && strings.ContainsAny(n.Command[0], "/\\") {
		n.Command[0] = absolutePath(filepath.Dir(s.name), n.Command[0])
	}
	return n, nil
}
