package room

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"github.com/folkmoot/moot/policies/policy"
)

// PayloadStored holds a payload that is too long for the messages that have it. It is
// stored once; messages refer to it by its digest.
type PayloadStored struct {
	Digest  string      `json:"sha256"` // of Payload, hex
	Payload policy.JSON `json:"payload"`
}

// Type returns the stable name of the body.
func (PayloadStored) Type() string { return "payload.stored" }

// Bounds of payloads, in bytes.
const (
	maxInline  = 8 << 10   // of one that stands in its message
	maxPayload = 256 << 10 // of any
	maxStored  = 1000      // stored payloads that the state knows, the newest
)

// A storedPayload is the place of a payload in the log.
type storedPayload struct {
	Digest string `json:"sha256"`
	Seq    int64  `json:"seq"`
}

// A PayloadRef stands in a message for a payload that is stored apart.
type PayloadRef struct {
	Digest string `json:"sha256"`
	Bytes  int    `json:"bytes"`
}

// PayloadRef returns the reference that is the payload of m, and false if m has a
// payload of its own or none.
func (m Message) PayloadRef() (PayloadRef, bool) {
	var ref PayloadRef
	d := json.NewDecoder(bytes.NewReader(m.Payload))
	d.DisallowUnknownFields()
	if len(m.Payload) > 200 || len(m.Payload) == 0 || d.Decode(&ref) != nil || len(ref.Digest) != 2*sha256.Size || ref.Bytes <= maxInline {
		return PayloadRef{}, false
	}
	return ref, true
}

// StoredPayload returns the seq of the event that holds the payload with that digest.
func (s *State) StoredPayload(digest string) (seq int64, ok bool) {
	for _, p := range s.Mail.Payloads {
		if p.Digest == digest {
			return p.Seq, true
		}
	}
	return 0, false
}

// checkPayload refuses a payload that is no JSON object or is too long.
func checkPayload(payload policy.JSON) error {
	switch {
	case len(payload) > maxPayload:
		return invalidError("ROOM-SIZE", "the payload has "+itoa(len(payload))+" bytes, over the limit of "+itoa(maxPayload), "put it into a file and name that")
	case len(payload) > 0 && (payload[0] != '{' || !json.Valid(payload)):
		return invalidError("ROOM-PAYLOAD", "the payload is no JSON object", "send an object, such as {\"task\": \"t1\"}")
	}
	return nil
}

// compacted returns a payload without the spaces around it and between its parts, so
// that the same payload has one form. It returns one that is no JSON as it is.
func compacted(payload policy.JSON) policy.JSON {
	var b bytes.Buffer
	if json.Compact(&b, payload) != nil || b.String() == "null" {
		if b.String() == "null" {
			return nil
		}
		return payload
	}
	return b.Bytes()
}

// withReference returns m with a reference in place of a long payload, and the event
// that stores the payload, unless the room has it.
func (s *State) withReference(m Message) (Message, []Body) {
	if len(m.Payload) <= maxInline || checkPayload(m.Payload) != nil {
		return m, nil
	}
	sum := sha256.Sum256(m.Payload)
	stored := PayloadStored{Digest: hex.EncodeToString(sum[:]), Payload: m.Payload}
	m.Payload = policy.JSON(`{"sha256":"` + stored.Digest + `","bytes":` + strconv.Itoa(len(m.Payload)) + `}`)
	if _, ok := s.StoredPayload(stored.Digest); ok {
		return m, nil
	}
	return m, []Body{stored}
}

func (s *State) applyPayload(e Event, b PayloadStored) {
	if len(b.Payload) == 0 { // it was redacted; the next message with it stores it again
		return
	}
	p := s.Mail.Payloads
	s.Mail.Payloads = append(p[max(0, len(p)-maxStored+1):len(p):len(p)], storedPayload{b.Digest, e.Seq})
}
