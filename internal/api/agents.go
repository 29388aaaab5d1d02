package api

import "encoding/json"

// Agents are the agents that a room made here can have.
type Agents struct {
	Installed []InstalledAgent `json:"installed" doc:"Agents that moot knows by name, also those that this machine lacks"`
	Profiles  []AgentProfile   `json:"profiles" doc:"Profiles of the settings file"`
	Peers     []AgentPeer      `json:"peers" doc:"Paired devices of other owners, whose agents may be shared with this one"`
	Folder    string           `json:"folder" doc:"The folder in which the server was started"`
	Dir       string           `json:"dir" doc:"The folder at which relative paths of the endpoints of profiles begin"`
}

// An InstalledAgent is an agent that moot knows by name.
type InstalledAgent struct {
	Name        string            `json:"name"`
	Title       string            `json:"title" doc:"For people"`
	Found       bool              `json:"found" doc:"This machine has it"`
	Where       string            `json:"where,omitempty" doc:"A path, the address of a server or a variable"`
	Fix         string            `json:"fix,omitempty" doc:"How to get it, if it was not found"`
	Endpoint    map[string]string `json:"endpoint,omitempty" doc:"endpoint in room.yaml, if it was found"`
	Tools       bool              `json:"tools" doc:"It has tools of its own, and works in a folder"`
	Permissions string            `json:"permissions,omitempty" doc:"How it is made to ask before it acts, and what that does not cover"`
}

// An AgentProfile is a profile of the settings file.
type AgentProfile struct {
	Name     string          `json:"name"`
	Kind     string          `json:"kind,omitempty" doc:"Of its endpoint; absent for a profile that only asks agents of others"`
	Endpoint json.RawMessage `json:"endpoint,omitempty" doc:"As it is written"`
	Asks     []string        `json:"asks" doc:"Devices whose agents it may ask"`
}

// An AgentPeer is another owner's device.
type AgentPeer struct {
	Name    string   `json:"name"`
	Device  string   `json:"device"`
	Asks    []string `json:"asks" doc:"Profiles of this device on whose behalf its agents may be asked"`
	Changed bool     `json:"changed,omitempty" doc:"Its keys have changed: nothing is sent until they are accepted"`
}

// SharedBy are the agents that another owner's device shares with this one.
type SharedBy struct {
	Agents []string `json:"agents" doc:"Names of profiles of that device"`
}
