package api

import "time"

// A RoomBrief is a room in the list of rooms.
type RoomBrief struct {
	Room      string    `json:"room" doc:"Its id"`
	Name      string    `json:"name,omitempty"`
	Objective string    `json:"objective,omitempty"`
	Phase     string    `json:"phase" doc:"live, paused, completed, stopped, error, interrupted or damaged"`
	Ending    string    `json:"ending,omitempty" doc:"Why it is not live"`
	Turns     int       `json:"turns"`
	Events    uint64    `json:"events"`
	Bytes     int64     `json:"bytes"`
	Updated   time.Time `json:"updated,omitzero"`
	Process   int       `json:"process,omitempty" doc:"The process that runs it now"`
	Node      string    `json:"node,omitempty" doc:"The address of the node that runs it now, or to which it belongs"`
}
