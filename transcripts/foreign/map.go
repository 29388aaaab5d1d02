package foreign

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/transcripts"
)

// maxTalks bounds the conversations of a file, which a Map builds at the same time.
const maxTalks = 100_000

// Mapped is the format of files that a Map reads.
const Mapped Format = "map"

// A Map says where the parts of messages are in records: objects of JSON or JSON lines,
// or rows of CSV.
type Map struct {
	paths map[string]jsonPath
}

// mapKeys are the parts of a message, and each, which is the list of records.
var mapKeys = []string{"speaker", "text", "time", "to", "kind", "name", "conversation", "each"}

// ParseMap reads a map such as "speaker=$.from,text=$.body,time=$.ts".
func ParseMap(text string) (*Map, error) {
	m := &Map{paths: map[string]jsonPath{}}
	for _, part := range splitMap(text) {
		key, at, ok := strings.Cut(part, "=")
		key = strings.TrimSpace(key)
		if !ok || !slices.Contains(mapKeys, key) {
			return nil, fmt.Errorf("%.60q is none of %s, with = and a path", part, strings.Join(mapKeys, ", "))
		}
		if _, twice := m.paths[key]; twice {
			return nil, fmt.Errorf("%s is named twice", key)
		}
		p, err := parsePath(at)
		if err != nil {
			return nil, err
		}
		m.paths[key] = p
	}
	if m.paths["speaker"] == nil || m.paths["text"] == nil {
		return nil, errors.New("a map needs speaker and text")
	}
	return m, nil
}

// splitMap splits at commas that are in no bracket.
func splitMap(text string) (parts []string) {
	depth, from := 0, 0
	for i, r := range text {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == ',' && depth == 0:
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[from:])
}

// read reads the conversations of a file: one, or one for each value of conversation.
func (m *Map) read(in *input) iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		talks := map[string]*builder{}
		var order []*builder
		for _, record := range m.records(in) {
			id := joined(record.find(m.paths["conversation"]))
			if m.paths["conversation"] == nil {
				id = ""
			}
			t := talks[id]
			if t == nil && len(order) == maxTalks {
				yield(nil, sizeError(in.name, fmt.Sprintf("the file has more than %d conversations", maxTalks)))
				return
			}
			if t == nil {
				t = in.newBuilder(Mapped, id)
				talks[id], order = t, append(order, t)
			}
			t.one(record, func(v value) { m.message(t, v) })
		}
		if err := in.firstError(); err != nil {
			yield(nil, err)
			return
		}
		for _, t := range order {
			if !yield(t.done(nil)) {
				return
			}
		}
	}
}

// records returns the records of a file.
func (m *Map) records(in *input) (all []value) {
	for _, doc := range in.docs {
		if p, ok := m.paths["each"]; ok {
			for _, v := range doc.find(p) {
				all = records(v, all)
			}
			continue
		}
		if doc.kind() == '{' && len(doc.find(m.paths["speaker"])) == 0 {
			if list := m.listIn(doc, maxSearch); list.kind() != 0 {
				doc = list
			}
		}
		all = records(doc, all)
	}
	return all
}

// records appends the items of a list, or v alone.
func records(v value, all []value) []value {
	if v.kind() != '[' {
		return append(all, v)
	}
	return v.collect(all)
}

// listed returns the items of a list, or v alone.
func listed(v value) []value { return records(v, nil) }

// maxSearch is how deep a list of records is searched for.
const maxSearch = 6

// listIn returns the first list below v whose first item has a speaker.
func (m *Map) listIn(v value, depth int) value {
	for _, member := range v.members() {
		if member.kind() != '[' {
			continue
		}
		for item := range member.items() {
			if item.kind() == '{' && len(item.find(m.paths["speaker"])) > 0 {
				return member
			}
			break
		}
	}
	if depth > 1 {
		for _, member := range v.members() {
			if member.kind() != '{' {
				continue
			}
			if list := m.listIn(member, depth-1); list.kind() != 0 {
				return list
			}
		}
	}
	return value{nil, v.at}
}

// message adds the message of a record.
func (m *Map) message(t *builder, v value) {
	if v.kind() != '{' && v.kind() != '[' {
		v.fail("expected a record, an object")
		return
	}
	speaker := clean(joined(v.find(m.paths["speaker"])))
	if speaker == "" {
		t.leaveOut("record without a speaker")
		return
	}
	p := piece{text: joined(v.find(m.paths["text"]))}
	if to, ok := m.paths["to"]; ok {
		for _, x := range v.find(to) {
			for _, id := range listed(x) {
				p.to = append(p.to, id.plain())
			}
		}
	}
	m.time(t, &p, v)
	kind := autoGenKind(speaker)
	if at, ok := m.paths["kind"]; ok {
		kind = kindOf(joined(v.find(at)))
	}
	name := ""
	if at, ok := m.paths["name"]; ok {
		name = joined(v.find(at))
	}
	p.speaker = t.participant(speaker, name, kind, "")
	t.addText(p, "record without a text")
}

// time sets the time of a piece: a date, seconds or milliseconds since 1970, or seconds
// from the start.
func (m *Map) time(t *builder, p *piece, v value) {
	at, ok := m.paths["time"]
	if !ok {
		return
	}
	text := joined(v.find(at))
	if text == "" {
		return
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(n) {
		switch {
		case n >= 1e11 && n < 253402300800000:
			p.at = time.UnixMilli(int64(n))
		case n >= 1e8 && n < 253402300800:
			p.at = time.UnixMicro(int64(n * 1e6))
		case math.Abs(n) < 1e8:
			p.seconds = &n
		default:
			t.countChange("time that cannot be read")
		}
		return
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", time.RFC1123Z, time.RFC1123} {
		if d, err := time.Parse(layout, text); err == nil {
			p.at = d
			return
		}
	}
	t.countChange("time that cannot be read")
}

// kindOf returns the kind of a participant that a record states.
func kindOf(text string) string {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "user", "human", "person", "customer":
		return transcripts.KindHuman
	case "tool", "function":
		return transcripts.KindTool
	}
	return transcripts.KindAgent
}

// joined returns the texts of values, one a line.
func joined(all []value) string {
	var texts []string
	for _, v := range all {
		for _, item := range listed(v) {
			texts = append(texts, item.plain())
		}
	}
	return strings.Join(texts, "\n")
}

// plain returns a string or a number as text, and anything else as JSON.
func (v value) plain() string {
	switch v.kind() {
	case 0:
		return ""
	case '"':
		return v.maybeText()
	}
	return v.compact()
}
