package foreign

import (
	"regexp"
	"strings"

	"github.com/folkmoot/moot/transcripts"
)

// routed is a role of a Magentic-One log: who speaks, and in brackets whom it
// hands to, or what kind of text it is.
var routed = regexp.MustCompile(`^(.*?)\s*\((.*)\)$`)

// readMagentic reads a log of Magentic-One: an array of {content, role}, or
// an object that wraps one as "history". "Orchestrator (-> WebSurfer)" hands
// to WebSurfer; "Orchestrator (thought)" is what it says to itself; any other
// word in brackets is the turn's channel.
func readMagentic(in *input) (*talk, error) {
	doc, err := in.document()
	if err != nil {
		return nil, err
	}
	t := newTalk(in.name, MagenticOne, "")
	list := doc
	if doc.kind() == '{' {
		if list = listed(doc); list.kind() == 0 {
			doc.need("history")
		}
		t.objective = doc.get("question").word()
	}
	for m := range list.items() {
		p := piece{speaker: clean(m.need("role").text())}
		if parts := routed.FindStringSubmatch(p.speaker); parts != nil && parts[1] != "" {
			p.speaker = parts[1]
			if to, ok := strings.CutPrefix(strings.TrimSpace(parts[2]), "->"); ok {
				p.to = []string{strings.TrimSpace(to)}
			} else {
				p.channel = strings.TrimSpace(parts[2])
			}
		}
		if m.failed() != nil {
			break
		}
		p.text = t.content(m.get("content"))
		if p.speaker == "" {
			t.leave("message without a speaker")
			continue
		}
		t.seat(p.speaker, "", magenticKind(p.speaker), "")
		t.say(p)
	}
	return t, doc.failed()
}

// magenticKind knows who is no agent in Magentic-One.
func magenticKind(name string) string {
	switch name {
	case "human", "user", "UserProxy":
		return transcripts.KindHuman
	case "ComputerTerminal", "Computer_terminal":
		return transcripts.KindTool
	}
	return transcripts.KindAgent
}
