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

// fingerprint hashes a text so that case, space and punctuation do not count:
// eight letters at a time, as FNV-1a does one. Texts are not out to deceive
// it; who wants to repeat itself unnoticed changes a word. It takes letters
// and leaves out the rest without a branch, which in running text nobody could
// foretell.
func fingerprint(text string) uint64 {
	var sum, word uint64
	var bits uint // of word that are in use
	for i := 0; i < len(text); i++ {
		b := text[i]
		if b >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if i += size - 1; unicode.IsLetter(r) || unicode.IsDigit(r) {
				sum = mix(mix(sum, word), uint64(unicode.ToLower(r)))
				word, bits = 0, 0
			}
			continue
		}
		l := letters[b]
		word = word<<(l.bits&63) | l.as
		if bits += l.bits; bits == 64 {
			sum = mix(sum, word)
			word, bits = 0, 0
		}
	}
	return mix(sum, word)
}

func mix(sum, word uint64) uint64 {
	sum = (sum ^ word) * 0x9E3779B97F4A7C15
	return sum ^ sum>>29
}

type letter struct {
	as   uint64
	bits uint
}

// letters says what a fingerprint takes of each ASCII byte: letters in lower
// case and digits.
var letters = func() (t [utf8.RuneSelf]letter) {
	for b := range t {
		if r := rune(b); unicode.IsLetter(r) || unicode.IsDigit(r) {
			t[b] = letter{uint64(unicode.ToLower(r)), 8}
		}
	}
	return t
}()

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

// Whatever comes from outside is brought into a form that the log gives back
// as it was: JSON holds no NaN and no invalid UTF-8, and an event that cannot
// be stored would end the room.

// Bounds of what others write, in bytes.
const (
	maxReason = 2_000   // reasons and errors; the rest is cut off
	maxText   = 1 << 20 // a person's message; an agent's is bounded by MaxOutput
	maxID     = 128     // ids of commands and messages
)

// validUTF8 returns s in UTF-8, nearly always s itself.
func validUTF8(s string) string {
	if utf8.ValidString(s) { // ToValidUTF8 takes longer to see it
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// cleanReason returns a reason as it is kept.
func cleanReason(s string) string { return cut(validUTF8(s), maxReason) }

// validShare returns p if it is a validShare from 0 to 1, else nil: not known.
func validShare(p *float64) *float64 {
	if p == nil || !(*p >= 0 && *p <= 1) {
		return nil
	}
	return p
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// validID reports whether id is one that can be kept; "" is none at all.
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

// ownID reports whether id is one that the room gives to messages itself.
func (s *State) ownID(id string) bool {
	rest, ok := strings.CutPrefix(id, s.Spec.Room)
	return ok && strings.HasPrefix(rest, ".")
}

// contentHash identifies what a message says and to whom, so that an id that comes
// again can be told from an id used for something else.
func (m Message) contentHash() uint64 {
	sum := sha256.Sum256([]byte(strings.Join([]string{m.From, m.By, m.To, m.Kind, string(m.Visibility), m.Text, string(m.Payload)}, "\x00")))
	return binary.BigEndian.Uint64(sum[:])
}

// isRepeat reports whether m has been isRepeat already. Its id may be nobody
// else's: not a command's, another message's or one that the room gives.
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

// checkAddress refuses a message that nobody or everybody would see by mistake.
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

// checkLength refuses a person's text that no event could hold.
func checkLength(text string) error {
	if len(text) <= maxText {
		return nil
	}
	return invalidError("ROOM-SIZE", "the text has "+itoa(len(text))+" bytes, over the limit of "+itoa(maxText), "put it into a file and name that")
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
