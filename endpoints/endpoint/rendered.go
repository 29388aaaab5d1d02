package endpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"unsafe"
)

// Rendered returns p with all its texts cleaned as by [Clean], and with Text, the
// whole as one text: the agent's identity, the objective, the participants and
// the messages. It depends only on p and leaves the lists of p unchanged.
//
// Text of others is in an attributed block between two lines with p.Boundary. Each
// line of the block begins with "| ". So no line of a quoted text can be taken for
// the end of its block, even by a reader that knows the boundary. The boundary is
// removed from all texts. A boundary of less than 16 letters and digits could be
// guessed; Rendered then derives one from the whole prompt.
//
// In the room of another owner, where p.Host is set, every text of that owner is in
// a block. Outside are only numbers, and ids and kinds, which the caller has
// checked with [ValidID].
func Rendered(p Prompt) Prompt {
	p = cleaned(p)
	p.Text = render(p)
	return p
}

// Digest returns the SHA-256 of a rendered prompt, in hex. It is the one in
// turn.granted.
func Digest(text string) string {
	sum := sha256.Sum256(unsafe.Slice(unsafe.StringData(text), len(text))) // a copy takes as long as the sum
	return hex.EncodeToString(sum[:])
}

// cleaned returns p with its texts cleaned.
func cleaned(p Prompt) Prompt {
	p.Objective, p.Summary, p.Instructions = Clean(p.Objective), Clean(p.Summary), Clean(p.Instructions)
	p.Constraints = eachOf(p.Constraints, Clean)
	p.You = p.You.cleaned()
	p.Seats = eachOf(p.Seats, Seat.cleaned)
	p.Inbox, p.History, p.CatchUp = eachOf(p.Inbox, Line.cleaned), eachOf(p.History, Line.cleaned), eachOf(p.CatchUp, Line.cleaned)
	p.Mail = eachOf(p.Mail, Mail.cleaned)
	p.Hints = cleanJSON(p.Hints)
	p.Duty = oneLine(p.Duty)
	p.Call = p.Call.cleaned()
	p.Host = Origin{oneLine(p.Host.Name), oneLine(p.Host.Device)}
	t := &p.Trace
	t.ID, t.Origin, t.Profile, t.Path = oneLine(t.ID), oneLine(t.Origin), oneLine(t.Profile), eachOf(t.Path, oneLine)
	return p
}

// eachOf returns a copy of list with f applied to each element.
func eachOf[T any](list []T, f func(T) T) []T {
	list = slices.Clone(list)
	for i := range list {
		list[i] = f(list[i])
	}
	return list
}

func (s Seat) cleaned() Seat {
	s.ID, s.Name, s.Kind, s.Role = oneLine(s.ID), oneLine(s.Name), oneLine(s.Kind), oneLine(s.Role)
	s.Owner, s.Device, s.Domains = oneLine(s.Owner), oneLine(s.Device), eachOf(s.Domains, oneLine)
	return s
}

func (l Line) cleaned() Line {
	l.From, l.To, l.Kind, l.Text, l.ID, l.For, l.FromSession = oneLine(l.From), oneLine(l.To), oneLine(l.Kind), Clean(l.Text), oneLine(l.ID), oneLine(l.For), oneLine(l.FromSession)
	return l
}

// cleanJSON cleans the strings of a JSON value. It returns nil for a text that is
// no JSON.
func cleanJSON(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	if plain(string(b)) && !bytes.ContainsRune(b, '\\') && json.Valid(b) {
		return b
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if d.Decode(&v) != nil || d.More() {
		return nil
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(cleanValue(v)) != nil {
		return nil
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

func cleanValue(v any) any {
	switch v := v.(type) {
	case string:
		return Clean(v)
	case []any:
		return eachOf(v, cleanValue)
	case map[string]any:
		m := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) { // in order: two keys may be equal when they are cleaned
			m[Clean(k)] = cleanValue(v[k])
		}
		return m
	}
	return v
}
