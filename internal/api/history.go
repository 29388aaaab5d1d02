package api

// A History is a part of a room's log in the form of pages. A reader sees only some of
// the events from First to Last.
type History struct {
	First  int64    `json:"first" doc:"The number of the first event of this part, seen or not"`
	Last   int64    `json:"last" doc:"The number of the last event of this part"`
	Tail   int64    `json:"tail" doc:"The number of the room's last event"`
	Events []Update `json:"events" doc:"Those that the caller may see, in their order"`
}
