package foreign

import (
	"strings"

	"github.com/folkmoot/moot/transcripts"
)

// readAutoGen reads a chat history of AutoGen 0.2 and AG2: an array of
// {content, role, name}, or an object that wraps one. The speaker is name;
// role is relative to whoever saved the history, so it says nothing.
func readAutoGen(in *input) (*talk, error) {
	doc, err := in.document()
	if err != nil {
		return nil, err
	}
	t := newTalk(in.name, AutoGen, "")
	t.seatless = true
	list := doc
	if doc.kind() == '{' {
		if list = listed(doc); list.kind() == 0 {
			doc.need("history")
		}
		t.objective = doc.get("question").word()
	}
	made := calls{}
	for m := range list.items() {
		if m.kind() != '{' {
			m.fail("this is to be a message, an object")
			break
		}
		t.chat(m, made, autoGenSpeaker)
	}
	return t, doc.failed()
}

// autoGenSpeaker returns who says m.
func autoGenSpeaker(t *talk, m value) string {
	name := m.get("name").text()
	if name == "" {
		name = m.get("role").text() // the first message of some histories
	}
	return t.seat(name, "", autoGenKind(name), "")
}

// autoGenKind knows the names that AutoGen's examples and its builder give to
// people and to the shell. All others are agents.
func autoGenKind(name string) string {
	switch strings.ToLower(strings.ReplaceAll(name, "_", "")) {
	case "user", "human", "userproxy", "humanproxy", "admin", "humanadmin":
		return transcripts.KindHuman
	case "computerterminal", "tool", "codeexecutor":
		return transcripts.KindTool
	}
	return transcripts.KindAgent
}
