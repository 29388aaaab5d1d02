package a2aroom

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/folkmoot/moot/room"
)

var capabilities = a2a.AgentCapabilities{Streaming: true}

// Card returns the agent card of a room whose JSON-RPC binding is at url.
func Card(v room.View, url, version string) ([]byte, error) {
	var names []string
	for _, x := range v.Seats {
		names = append(names, cmp.Or(x.Name, x.ID))
	}
	return json.Marshal(a2a.AgentCard{
		Name: cmp.Or(v.Name, v.Room), Description: v.Objective, Version: version,
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(url, a2a.TransportProtocolJSONRPC)},
		Capabilities:        capabilities,
		DefaultInputModes:   []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		SecuritySchemes:      a2a.NamedSecuritySchemes{"bearer": a2a.HTTPAuthSecurityScheme{Scheme: "Bearer"}},
		SecurityRequirements: a2a.SecurityRequirementsOptions{{"bearer": {}}},
		Skills: []a2a.AgentSkill{{
			ID: "talk", Name: "Talk in the room", Tags: []string{"room"},
			Description: "A message is posted in the room. The task has what its participants say until the room rests: " + strings.Join(names, ", "),
		}},
	})
}
