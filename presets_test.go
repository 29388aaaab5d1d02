package moot

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/folkmoot/moot/endpoints/acp"
)

// TestKnownAgents checks that room.yaml may name each agent that endpoints/acp knows,
// and no other.
func TestKnownAgents(t *testing.T) {
	b, err := os.ReadFile("internal/config/room.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs struct {
			Endpoint struct {
				AllOf []struct {
					Then struct {
						Properties struct {
							Agent struct{ Enum []string }
						}
					}
				}
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(b, &schema); err != nil {
		t.Fatal(err)
	}
	var names, known []string
	for _, kind := range schema.Defs.Endpoint.AllOf {
		names = append(names, kind.Then.Properties.Agent.Enum...)
	}
	for _, p := range acp.Presets() {
		known = append(known, p.Name)
	}
	if !slices.Equal(names, known) {
		t.Errorf("room.yaml may name %q, and these are known: %q", names, known)
	}
}
