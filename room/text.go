package room

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func itoa[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// count renders n of a noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// fingerprint returns the FNV-1a hash of the letters and digits of a text, without
// regard to case. It need not resist deliberate collisions.
func fingerprint(text string) uint64 {
	sum := uint64(14695981039346656037)
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			sum = (sum ^ uint64(unicode.ToLower(r))) * 1099511628211
		}
	}
	return sum
}

// FirstSentence returns the first sentence of text on one line, cut to max
// bytes at a character, with an ellipsis when anything is missing.
func FirstSentence(text string, max int) string {
	text = strings.TrimSpace(text)
	line := text[:min(len(text), 4*max+8)]
	if i := strings.IndexAny(line, "\n\r"); i >= 0 {
		line = line[:i]
	}
	for i := 0; i+1 < len(line); i++ {
		if (line[i] == '.' || line[i] == '!' || line[i] == '?') && line[i+1] == ' ' {
			line = line[:i+1]
			break
		}
	}
	line = strings.TrimSpace(line)
	if len(line) > max {
		line = cut(line, max-len("…")) + "…"
	} else if len(line) < len(text) {
		line += " …"
	}
	return line
}

// cut returns at most n bytes of s, whole characters only.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:max(n, 0)]
}

// Input from people, policies and agents is converted to a form that the log
// returns unchanged. JSON has no NaN and no invalid UTF-8, and an event that
// cannot be stored would end the room.

// Limits of such input, in bytes.
const (
	maxReason = 2_000   // reasons and errors; the rest is cut off
	maxText   = 1 << 20 // a person's message; an agent's is bounded by MaxOutput
	maxID     = 128     // ids of commands and messages
)

// validUTF8 returns s with invalid bytes replaced by U+FFFD.
func validUTF8(s string) string {
	if utf8.ValidString(s) { // faster than ToValidUTF8 in the usual case
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// cleanReason returns a reason as the log holds it.
func cleanReason(s string) string { return cut(validUTF8(s), maxReason) }

// headline returns the first line of an error. Further lines, such as a traceback,
// are in the event of the failure only.
func headline(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(line)
}

// validShare returns p if it is a number from 0 to 1, else nil.
func validShare(p *float64) *float64 {
	if p == nil || !(*p >= 0 && *p <= 1) {
		return nil
	}
	return p
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// validID reports whether the log can hold id; "" stands for no id.
func validID(id string) bool { return len(id) <= maxID && plainASCII(id) }

// plainASCII reports whether s is printable ASCII without quotes and backslashes,
// so that it stands in JSON unchanged.
func plainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// ownID reports whether id has the form of the ids that the room itself gives.
func (s *State) ownID(id string) bool {
	rest, ok := strings.CutPrefix(id, s.Spec.Room)
	return ok && strings.HasPrefix(rest, ".")
}

// contentHash returns a hash of a message and its addressee. It tells a repeated
// message from another message with the same id.
func (m Message) contentHash() uint64 {
	parts := []string{m.From, m.By, m.To, m.Kind, string(m.Visibility), m.Text, string(m.Payload)}
	if m.FromSession != "" { // earlier releases had none
		parts = append(parts, m.FromSession)
	}
	if m.Applet != "" {
		parts = append(parts, m.Applet)
	}
	if m.Summary != "" || m.Priority != "" || m.Correlation != "" || m.Parent != "" || m.RequiresAck || m.Notify != "" {
		parts = append(parts, "typed", m.Summary, m.Priority, m.Correlation, m.Parent, strconv.FormatBool(m.RequiresAck), m.Notify)
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return binary.BigEndian.Uint64(sum[:])
}

// isRepeat reports whether m has been posted already. It refuses an id that
// belongs to a command or another message, or that has the form of the room's own.
func (s *State) isRepeat(m Message) (bool, error) {
	switch {
	case m.ID == "":
		return false, nil
	case !validID(m.ID) || s.ownID(m.ID):
		return false, invalidError("ROOM-ID", "message id "+quote(cut(validUTF8(m.ID), maxID))+" cannot be kept", "use at most 128 printable characters that do not begin with the room's id and a dot")
	case !s.Commands.has(m.ID):
		return false, nil
	case s.Commands.Content[m.ID] != m.contentHash():
		return false, takenError(m.ID)
	}
	return true, nil
}

// checkAddress refuses a message with an unknown visibility or addressee.
func (s *State) checkAddress(m Message) error {
	switch m.Visibility {
	case "", UserVisible, UserRedacted, Internal:
	default:
		return invalidError("ROOM-VISIBILITY", "no visibility "+quote(string(m.Visibility)), "use user_visible, user_redacted or internal")
	}
	if m.To != Broadcast && s.seat(m.To) == nil {
		return invalidError("ROOM-UNKNOWN", "no participant "+quote(m.To), "address one of the roster")
	}
	return nil
}

// checkSource refuses a message of an unknown source, and one of a session that is
// not of an agent or has no valid id.
func (m Message) checkSource() error {
	switch {
	case m.Source != SourceUser && m.Source != SourceApplet && m.Source != SourceAgent:
		return invalidError("ROOM-SOURCE", "no source of messages "+quote(cut(validUTF8(m.Source), maxID)), "use user, applet or agent")
	case m.Applet != "" && m.Source != SourceApplet:
		return invalidError("ROOM-SOURCE", "only a message of an applet names one", "leave the applet out")
	case m.FromSession != "" && (m.Source != SourceAgent || !validID(m.FromSession)):
		return invalidError("ROOM-SOURCE", "a message of an agent session has the source agent, and a session with a valid id", "leave the session out")
	}
	return nil
}

// checkLength refuses a text that is too long for an event.
func checkLength(text string) error {
	if len(text) <= maxText {
		return nil
	}
	return invalidError("ROOM-SIZE", "the text has "+itoa(len(text))+" bytes, over the limit of "+itoa(maxText), "put it into a file and name that")
}
