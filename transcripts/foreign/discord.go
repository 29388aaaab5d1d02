package foreign

import (
	"cmp"
	"strings"
	"time"

	"github.com/folkmoot/moot/transcripts"
)

// A discordReader reads a channel as DiscordChatExporter writes it: an object with the
// server, the channel and the messages.
type discordReader struct {
	*builder
	authors map[string]string // of messages, by their ids
}

func readDiscord(in *input) (*builder, error) {
	doc, err := in.document()
	if err != nil {
		return nil, err
	}
	d := discordReader{in.newBuilder(Discord, ""), map[string]string{}}
	d.objective = doc.get("channel").get("topic").maybeText()
	d.each(doc.require("messages"), d.message)
	return d.builder, doc.failed()
}

// discordKinds are the types of messages that people and bots write, by name and by
// number.
var discordKinds = map[string]bool{"": true, "Default": true, "Reply": true, "ChatInputCommand": true, "ContextMenuCommand": true, "0": true, "19": true, "20": true, "23": true}

func (d discordReader) message(m value) {
	if kind := m.get("type").plain(); !discordKinds[kind] {
		d.leaveOut("notice of the program (" + typeOrNone(kind) + ")")
		return
	}
	p := piece{speaker: d.person(m.require("author")), text: m.get("content").text()}
	p.at, _ = time.Parse(time.RFC3339Nano, m.get("timestamp").maybeText())
	d.authors[m.get("id").maybeText()] = p.speaker
	if parent := d.authors[m.get("reference").get("messageId").maybeText()]; parent != "" {
		p.to = append(p.to, parent)
	}
	for person := range m.get("mentions").itemsOf() {
		p.to = append(p.to, d.person(person))
	}
	if strings.TrimSpace(p.text) == "" {
		p.text = embedText(m.get("embeds"))
	}
	switch {
	case m.failed() != nil:
	case p.speaker == "":
		d.leaveOut("message without an author")
	default:
		d.addText(p, "message without a text")
	}
}

// person adds a member of the server.
func (d discordReader) person(v value) string {
	kind := transcripts.KindHuman
	if v.get("isBot").flag() {
		kind = transcripts.KindAgent
	}
	name := cmp.Or(v.get("nickname").maybeText(), v.get("name").maybeText())
	return d.participant(cmp.Or(v.get("id").plain(), name), name, kind, "")
}

// embedText returns the text of embeds, as bots post them.
func embedText(list value) string {
	var all []string
	for e := range list.itemsOf() {
		for _, key := range []string{"title", "description"} {
			if text := e.get(key).maybeText(); text != "" {
				all = append(all, text)
			}
		}
	}
	return strings.Join(all, "\n")
}
