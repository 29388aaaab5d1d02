package share

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// A host repeats the agent's own messages to it. So that no host can put words in
// its mouth, the journal keeps a digest of each text that the agent gave to a
// room.

// digestOf returns the digest of a text that the agent of a profile gave to a
// room, in the form in which a host repeats it; "" for an empty text, which no
// agent says.
func digestOf(profile, text string) string {
	text = strings.TrimSpace(endpoint.Clean(text))
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(profile + "\x00" + text))
	return hex.EncodeToString(sum[:])
}

// sent records a message that the agent sends to the room apart from its answer.
func (j *Journal) sent(from identity.DeviceID, room, request, said string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.add(&entry{At: j.now().UTC(), From: from, Room: room, Request: request, Said: []string{said}})
}

// said reports whether an agent gave the text with a digest to a room. The journal
// knows the texts of one day.
func (j *Journal) said(from identity.DeviceID, room, digest string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := j.devices[from]
	return d != nil && digest != "" && slices.ContainsFunc(d.order, func(e *entry) bool { return e.Room == room && slices.Contains(e.Said, digest) })
}
