package foreign

import (
	"cmp"
	"iter"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/transcripts"
)

// slackOrder says how threads were ordered.
const slackOrder = "by time of posting, replies in threads included"

// A slackReader reads an export: users.json, channels.json and similar lists,
// and one folder a channel with one file a day, an array of messages.
type slackReader struct {
	*archive
	in    *input
	users map[string]slackUser
}

type slackUser struct {
	name string
	bot  bool
}

// A slackChannel is the folder of a channel and its description.
type slackChannel struct {
	folder, about string
	days          []string
}

func readSlack(in *input) iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		a, err := openArchive(in.raw, in.name)
		if err != nil {
			yield(nil, err)
			return
		}
		s := slackReader{a, in, map[string]slackUser{}}
		channels, err := s.channels()
		if err == nil {
			err = s.readUsers()
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for _, c := range channels {
			if !yield(s.channel(c)) {
				return
			}
		}
	}
}

// day matches the name of a file of messages.
var day = regexp.MustCompile(`^\d{4}-\d\d-\d\d\.json$`)

// channels finds the folders with messages.
func (s slackReader) channels() ([]*slackChannel, error) {
	found := map[string]*slackChannel{}
	var all []*slackChannel
	for _, name := range s.order {
		folder, file := path.Split(name)
		if folder == "" || !day.MatchString(file) {
			continue
		}
		folder = path.Clean(folder)
		if found[folder] == nil {
			found[folder] = &slackChannel{folder: folder}
			all = append(all, found[folder])
		}
		found[folder].days = append(found[folder].days, name)
	}
	if len(all) == 0 {
		return nil, formatError(s.name, "a zip, but without files CHANNEL/YYYY-MM-DD.json as in a Slack export")
	}
	slices.SortFunc(all, func(a, b *slackChannel) int { return cmp.Compare(a.folder, b.folder) })
	for _, list := range []string{"channels.json", "groups.json", "mpims.json"} {
		if s.files[list] == nil {
			continue
		}
		doc, err := s.document(list)
		if err != nil {
			return nil, err
		}
		for c := range doc.items() {
			if f := found[c.get("name").maybeText()]; f != nil {
				f.about = cmp.Or(c.get("purpose").get("value").maybeText(), c.get("topic").get("value").maybeText())
			}
		}
		if doc.failed() != nil {
			return nil, doc.failed()
		}
	}
	return all, nil
}

// readUsers reads the names of the users.
func (s slackReader) readUsers() error {
	if s.files["users.json"] == nil {
		return nil
	}
	doc, err := s.document("users.json")
	if err != nil {
		return err
	}
	for u := range doc.items() {
		profile := u.get("profile")
		s.users[u.require("id").text()] = slackUser{
			name: cmp.Or(profile.get("display_name").maybeText(), u.get("name").maybeText(), profile.get("real_name").maybeText()),
			bot:  u.get("is_bot").flag(),
		}
	}
	return doc.failed()
}

// channel reads the days of a channel.
func (s slackReader) channel(c *slackChannel) (*Conversation, error) {
	t := s.in.newBuilder(Slack, stem(s.in.name)+"/"+c.folder)
	t.objective, t.report.Order = c.about, slackOrder
	var said []slackMessage
	slices.Sort(c.days)
	for _, name := range c.days {
		doc, err := s.document(name)
		if err == nil {
			t.each(doc, func(m value) {
				if x := (slackMessage{m, m.require("ts").text(), m.require("ts").number()}); m.failed() == nil {
					said = append(said, x)
				}
			})
			err = doc.failed()
		}
		if t.skip(err) != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(said, func(a, b slackMessage) int { return cmp.Compare(a.at, b.at) })
	authors := map[string]string{} // of the messages that have replies
	for _, m := range said {
		s.message(t, m, authors)
		if err := t.skip(m.failed()); err != nil {
			return nil, err
		}
	}
	return t.done(nil)
}

// A slackMessage is a message and its time.
type slackMessage struct {
	value
	ts string
	at float64 // seconds since 1970
}

// messageSubtypes are the subtypes of messages that people and bots write.
var messageSubtypes = map[string]bool{
	"": true, "bot_message": true, "me_message": true, "thread_broadcast": true, "reply_broadcast": true,
	"file_share": true, "file_comment": true, "file_mention": true,
}

// message adds a message.
func (s slackReader) message(t *builder, m slackMessage, authors map[string]string) {
	kind := m.get("subtype").text()
	switch {
	case m.get("type").text() != "message":
		t.leaveOut("entry of type " + typeOrNone(m.get("type").maybeText()))
		return
	case !messageSubtypes[kind]:
		t.leaveOut("notice of the program (" + truncate(clean(kind), 60) + ")")
		return
	}
	who := s.author(t, m, kind)
	if who == "" {
		t.leaveOut("message without an author")
		return
	}
	p := piece{speaker: who, at: slackTime(m.ts)}
	p.text, p.to = s.plainText(t, m.get("text").text())
	if strings.TrimSpace(p.text) == "" {
		p.text, p.to = s.attachmentText(t, m)
	} else if list := m.get("attachments"); list.kind() == '[' {
		for range list.items() {
			t.leaveOut("link preview of a message with text")
		}
	}
	authors[m.ts] = who
	if thread := m.get("thread_ts").maybeText(); thread != "" && thread != m.ts {
		if parent := cmp.Or(m.get("parent_user_id").maybeText(), authors[thread]); parent != "" {
			p.to = append([]string{s.participant(t, parent)}, p.to...)
		}
	}
	t.addText(p, "message without a text")
}

// author returns the participant that wrote a message.
func (s slackReader) author(t *builder, m slackMessage, kind string) string {
	id := m.get("user").text()
	if kind == "file_comment" && id == "" {
		id = m.get("comment").get("user").maybeText()
	}
	if id != "" {
		return s.participant(t, id)
	}
	bot := m.get("bot_id").text()
	name := cmp.Or(m.get("username").maybeText(), m.get("bot_profile").get("name").maybeText())
	id = cmp.Or(bot, name)
	if i, ok := t.index[clean(id)]; ok && bot != "" && name != "" && clean(name) != t.c.Participants[i].Name {
		id = bot + "/" + name // one application that posts under several names
	}
	return t.participant(id, name, transcripts.KindTool, "")
}

// participant adds a member of the workspace.
func (s slackReader) participant(t *builder, id string) string {
	kind := transcripts.KindHuman
	if s.users[id].bot {
		kind = transcripts.KindAgent
	}
	return t.participant(id, s.users[id].name, kind, "")
}

// attachmentText returns the text in the attachments of a message without text,
// as applications post them.
func (s slackReader) attachmentText(t *builder, m slackMessage) (string, []string) {
	list := m.get("attachments")
	if list.kind() != '[' {
		return "", nil
	}
	var texts, to []string
	for a := range list.items() {
		for _, key := range []string{"pretext", "title", "text"} {
			text, ids := s.plainText(t, a.get(key).maybeText())
			if text != "" {
				texts, to = append(texts, text), append(to, ids...)
			}
		}
		if len(texts) == 0 {
			if text, ids := s.plainText(t, a.get("fallback").maybeText()); text != "" {
				texts, to = append(texts, text), append(to, ids...)
			}
		}
	}
	return strings.Join(texts, "\n"), to
}

// slackMarkup matches markup in angle brackets: a mention of a person, channel
// or group, or a link.
var slackMarkup = regexp.MustCompile(`<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>`)

// plainText returns a text as Slack displays it, and the users it mentions.
func (s slackReader) plainText(t *builder, text string) (string, []string) {
	var to []string
	text = slackMarkup.ReplaceAllStringFunc(text, func(m string) string {
		parts := slackMarkup.FindStringSubmatch(m)
		sign, id, label := parts[1], parts[2], parts[3]
		switch sign {
		case "@":
			if id = s.participant(t, id); id == "" {
				return m
			}
			to = append(to, id)
			return "@" + cmp.Or(s.users[id].name, label, id)
		case "#":
			return "#" + cmp.Or(label, id)
		case "!":
			return "@" + strings.TrimPrefix(cmp.Or(label, id), "@")
		}
		if label != "" && label != id {
			return label + " (" + id + ")"
		}
		return id
	})
	return entities.Replace(text), to
}

// entities are the three characters that Slack escapes.
var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// slackTime parses the ts of a message: seconds since 1970, a dot, and a number
// that makes it unique.
func slackTime(ts string) time.Time {
	whole, frac, _ := strings.Cut(ts, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n <= 0 || n > 253402300799 {
		return time.Time{}
	}
	micros, _ := strconv.ParseInt((frac + "000000")[:6], 10, 64)
	return time.Unix(n, micros*1000)
}
