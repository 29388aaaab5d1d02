package foreign

import (
	"cmp"
	"strings"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/transcripts"
)

// own reports whether a span is one that package transcripts wrote, a message
// each, see transcripts.WriteSpans.
func (s *span) own() bool { return s.text(transcripts.AttrKind) != "" }

// exported takes such a span. It says all that the usual attributes have no
// word for, so nothing is inferred.
func (t *speech) exported(s *span) {
	kind := s.text(transcripts.AttrKind)
	if kind != transcripts.KindAgent && kind != transcripts.KindHuman && kind != transcripts.KindTool {
		s.attrs[transcripts.AttrKind].fail("a kind is agent, human or tool")
		return
	}
	if shown := s.text(transcripts.AttrShown); shown == "hidden" || shown == "redacted" {
		t.leave("message that the export does not show (" + shown + ")")
		return
	}
	name := s.text("gen_ai.agent.name")
	p := piece{speaker: t.seat(cmp.Or(s.text("gen_ai.agent.id"), name), name, kind, "")}
	if p.speaker == "" {
		t.leave("message without a speaker")
		return
	}
	if to, ok := s.attrs[transcripts.AttrTo]; ok {
		for v := range to.get("arrayValue").get("values").items() {
			p.to = append(p.to, v.get("stringValue").text())
		}
	}
	if s.text(transcripts.AttrVisibility) == string(room.Internal) {
		p.channel = thought
	}
	if clock, ok := s.attrs[transcripts.AttrClock]; ok {
		n := clock.get("stringValue").number()
		p.seconds = &n
	}
	if at := s.when(); at.Year() > 1970 { // else it is the room's clock, which has no date
		p.at = at
	}
	var texts []string
	for _, m := range s.messages("gen_ai.output.messages", "gen_ai.completion") {
		for part := range m.get("parts").items() {
			texts = append(texts, part.get("content").word())
		}
	}
	p.text = strings.Join(texts, "\n")
	t.say(p)
}
