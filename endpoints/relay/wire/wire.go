// Package wire holds the bodies of the messages that two devices exchange, and
// the codes by which one tells the other about an error. Both sides use it: the
// one that asks and the one that serves, the spectator server and its client.
//
// Bodies are JSON objects within an envelope; envelope.Envelope.DecodeBody
// decodes them strictly. The names of fields, the values of states and codes
// are the protocol: they never change, for devices of other releases read them.
package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/folkmoot/moot/endpoints/relay/envelope"
)

// A SideMessage is the body of a message of an agent, apart from its answer.
type SideMessage struct {
	To   string `json:"to,omitempty"`
	Text string `json:"text"`
	// Number tells typed messages, acknowledgements and claims of one request apart. The
	// answer of the room has it; see [MessageAnswer]. Plain talk has none.
	Number int      `json:"number,omitempty"`
	Post   *Post    `json:"post,omitempty"`
	Ack    []string `json:"acks,omitempty"` // ids of messages
	Claim  string   `json:"claim,omitempty"`
}

// A Status is the body of a status: of a device, or of the request with the
// id of its envelope.
type Status struct {
	State string `json:"state,omitempty"` // empty: the device is there
}

// States of a Status.
const (
	// StateThinking is the heartbeat of a request: its agent is at work.
	StateThinking = "thinking"
	// StateRestarted means that agents have lost what they were told: all of the
	// device, or the one of the envelope's profile and room.
	StateRestarted = "anew"
)

// maxReason bounds a reason, in runes.
const maxReason = 500

// Body encodes the body of a message.
func Body(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(`{"status":"error","code":"failed"}`) // cannot happen: bodies are plain structs and valid JSON
	}
	return b
}

// ResponseTo returns the envelope that ends the request q.
func ResponseTo(q envelope.Envelope, body json.RawMessage) envelope.Envelope {
	t := envelope.TurnResponse
	if q.Type == envelope.BidRequest {
		t = envelope.BidResponse
	}
	return envelope.Envelope{ID: q.ID, Type: t, Profile: q.Profile, Room: q.Room, Epoch: q.Epoch, Turn: q.Turn, Body: body}
}

// ShortHash returns 64 bits of the SHA-256 of s, in hex.
func ShortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}
