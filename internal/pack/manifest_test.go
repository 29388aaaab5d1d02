package pack

import (
	"errors"
	"testing"

	"github.com/folkmoot/moot/problem"
)

// TestManifestPlaces: an error of policy.json has its line, its column and what to
// do.
func TestManifestPlaces(t *testing.T) {
	for _, c := range []struct{ text, where, fix string }{
		{"{\n  \"name\": \"a\",\n  \"versoin\": \"1.0.0\",\n  \"abi\": 1}", "policy.json:3:3", `did you mean "version"?`},
		{"{\n  \"name\": \"a\",\n  \"input\": {\"bid\": true}, \"version\": \"1.0.0\", \"abi\": 1}", "policy.json:3:13", `did you mean "bids"?`},
		{"{\n  \"name\": \"A b\", \"version\": \"1.0.0\", \"abi\": 1}", "policy.json:2:3", "`moot help POL-MANIFEST` lists what a manifest holds"},
		{"{\"name\": \"a\", \"version\": \"1.0.0\", \"abi\": 1,\n \"input\": {\"history_events\": -1}}", "policy.json:2:12", "`moot help POL-MANIFEST` lists what a manifest holds"},
	} {
		_, err := ParseManifest("policy.json", []byte(c.text))
		var p *problem.Error
		if !errors.As(err, &p) || p.Where != c.where || p.Fix != c.fix {
			t.Errorf("%s\n%v, fix %q; want %s, %q", c.text, err, p.Fix, c.where, c.fix)
		}
	}
	for _, text := range []string{"{\n \"name\" \"a\"}", "{\n \"abi\": \"one\"}"} {
		_, err := ParseManifest("policy.json", []byte(text))
		var p *problem.Error
		if !errors.As(err, &p) || p.Where[:14] != "policy.json:2:" {
			t.Errorf("%s: %v", text, err)
		}
	}
}
