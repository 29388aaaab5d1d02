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
