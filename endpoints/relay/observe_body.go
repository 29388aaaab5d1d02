package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/room"
)

// Bounds of what passes between a room and who watches it.
const (
	maxBatch     = 64        // events of one answer
	maxBatchSize = 160 << 10 // bytes of them, unless one alone is larger
	maxHead      = 64        // events that open a room
	maxHeadSize  = 48 << 10
	maxLast      = 10_000 // events of the past that may be asked for
	maxWords     = 12_000 // characters of a message
	eventDepth   = 12     // of an event, within an envelope
)

// A wish is the body of a watch: the events after one, or the last of the past.
type wish struct {
	After *int64 `json:"after,omitempty"` // the last event that it has; absent: none
	Last  int    `json:"last,omitempty"`  // then: how many of the past, what it may not see counted
}

func (w wish) check() error {
	switch {
	case w.After != nil && (*w.After < 0 || w.Last != 0):
		return errors.New("its event is out of bounds, or it asks for two things")
	case w.Last < 0 || w.Last > maxLast:
		return errors.New("it asks for too many events")
	}
	return nil
}

// A scene is the body of an event envelope: what came after an event. State is
// empty while the room runs.
type scene struct {
	After   int64             `json:"after"`
	Through int64             `json:"through"` // the event to go on from
	Head    []json.RawMessage `json:"head,omitempty"`
	Events  []json.RawMessage `json:"events,omitempty"`
	State   string            `json:"state,omitempty"`
	Phase   room.Phase        `json:"phase,omitempty"` // with a state
	Reason  string            `json:"reason,omitempty"`
}

// States of a room that does not run.
const (
	sceneOver = "over" // it has ended
	sceneAway = "away" // its host has ended, and may go on with it
)

// A verdict is the body of what answers a message, or refuses a watch.
type verdict struct {
	Status  string `json:"status"`             // statusOK or statusError
	Code    string `json:"code,omitempty"`     // of an error
	RetryMS int64  `json:"retry_ms,omitempty"` // with verdictLimit: when it may come again
}

// Codes of verdicts.
const (
	verdictDenied = "denied" // no such room, or not for this device
	verdictAbsent = "absent" // no room runs there
	verdictWhich  = "which"  // several rooms: name one
	verdictLimit  = "limit"
	verdictSize   = "size"
	verdictOver   = "over" // the room has ended
	verdictMuted  = "muted"
	verdictFailed = "failed"
)

// maxRetry is the longest wait that a verdict is believed to ask for.
const maxRetry = 5 * 60_000

func (v verdict) check() error {
	if v.Status != statusOK && v.Status != statusError || v.RetryMS < 0 {
		return errors.New("its status is none that is known")
	}
	return nil
}

// words are the body of what somebody who watches says.
type words struct {
	Text string `json:"text"`
}

func (w words) fit() (code string) {
	switch {
	case strings.TrimSpace(w.Text) == "":
		return verdictFailed
	case utf8.RuneCountInString(w.Text) > maxWords:
		return verdictSize
	}
	return ""
}

// read checks an answer to who has seen the events up to after, and decodes
// what it shows. known is false before the first answer.
func (s scene) read(after int64, known bool) (head, events []room.Event, err error) {
	switch {
	case s.After < 0 || s.Through < s.After || known && s.After != after:
		return nil, nil, fmt.Errorf("it goes on from event %d, and %d was the last", s.After, after)
	case len(s.Head) > maxHead || len(s.Events) > maxBatch:
		return nil, nil, errors.New("it holds too many events")
	case s.State != "" && s.State != sceneOver && s.State != sceneAway:
		return nil, nil, errors.New("the room is in no state that is known")
	}
	if head, err = readEvents(s.Head, 0, s.After); err != nil {
		return nil, nil, err
	}
	events, err = readEvents(s.Events, s.After, s.Through)
	return head, events, err
}

// readEvents decodes events that come after one and not after another, each
// after the one before it.
func readEvents(raw []json.RawMessage, after, through int64) (all []room.Event, err error) {
	for _, b := range raw {
		var any json.RawMessage
		if err := strict.Decode(b, eventDepth, &any); err != nil {
			return nil, err
		}
		e, err := room.UnmarshalEvent(b)
		switch {
		case err != nil:
			return nil, err
		case e.V != room.FormatVersion:
			return nil, fmt.Errorf("event %d is of version %d", e.Seq, e.V)
		case e.Seq <= after || e.Seq > through:
			return nil, fmt.Errorf("event %d is out of order", e.Seq)
		}
		after = e.Seq
		all = append(all, e)
	}
	return all, nil
}
