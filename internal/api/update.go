package api

import (
	"encoding/json"
	"fmt"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// An Update is one line of a stream of events: an event of the room's log, or Live.
type Update struct {
	Event json.RawMessage `json:"event,omitempty" doc:"An event, as moot schema event describes it"`
	Live  *Live           `json:"live,omitempty" doc:"What is not in the log and may be left out"`
}

// Live is what watchers see of a room that is not in its log.
type Live struct {
	Participant string `json:"participant,omitempty" doc:"The author of delta"`
	Turn        int    `json:"turn,omitempty"`
	Delta       string `json:"delta,omitempty" doc:"Text of the turn that runs"`
	Pausing     bool   `json:"pausing,omitempty" doc:"The room sends nothing any more; the event follows"`
}

// UpdateOf returns the form of u, without secrets.
func UpdateOf(u coordinator.Update) (Update, error) {
	if u.Event == nil {
		return Update{Live: &Live{Participant: u.Participant, Turn: u.Turn, Delta: u.Delta, Pausing: u.Pausing}}, nil
	}
	b, err := EventOf(*u.Event)
	return Update{Event: b}, err
}

// EventOf returns the form of e, without the room's secret.
func EventOf(e room.Event) (json.RawMessage, error) {
	if b, ok := e.Body.(room.Opened); ok {
		b.Spec.Secret = ""
		e.Body = b
	}
	return room.MarshalEvent(e)
}

// Update returns what u says.
func (u Update) Update() (coordinator.Update, error) {
	switch {
	case u.Live != nil && u.Event == nil:
		return coordinator.Update{Participant: u.Live.Participant, Turn: u.Live.Turn, Delta: u.Live.Delta, Pausing: u.Live.Pausing}, nil
	case u.Event == nil || u.Live != nil:
		return coordinator.Update{}, fmt.Errorf("a line of a stream has an event or live text")
	}
	e, err := room.UnmarshalEvent(u.Event)
	return coordinator.Update{Event: &e}, err
}
