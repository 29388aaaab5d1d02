package api

import (
	"encoding/json"

	"github.com/folkmoot/moot/room"
)

// Done is what a command has done.
type Done struct {
	Events []json.RawMessage `json:"events" doc:"The events that record it, none if nothing changed"`
}

// DoneOf returns the form of events.
func DoneOf(events []room.Event) (Done, error) {
	d := Done{Events: []json.RawMessage{}}
	for _, e := range events {
		b, err := EventOf(e)
		if err != nil {
			return Done{}, err
		}
		d.Events = append(d.Events, b)
	}
	return d, nil
}

// Decode returns the events of d.
func (d Done) Decode() ([]room.Event, error) {
	events := make([]room.Event, len(d.Events))
	for i, b := range d.Events {
		var err error
		if events[i], err = room.UnmarshalEvent(b); err != nil {
			return nil, err
		}
	}
	return events, nil
}
