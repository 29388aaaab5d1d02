package api

// A Caller is who a credential belongs to.
type Caller struct {
	Name    string `json:"name" doc:"Name of the credential"`
	Scope   string `json:"scope" enum:"read,talk,control,admin" doc:"What the credential allows"`
	Room    string `json:"room,omitempty" doc:"The only room that it is for"`
	Seat    string `json:"seat,omitempty" doc:"The seat that it acts as"`
	Session string `json:"session,omitempty" doc:"The id of this seat as a session: ROOM.SEAT"`
	Via     string `json:"via" doc:"How its requests come: socket, http, page or mcp"`
}
