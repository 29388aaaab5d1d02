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

// slackOrder states how threads were put in line.
const slackOrder = "by the time of posting; replies in threads where they were posted"

// A slack reads an export: users.json, channels.json and its like, and a
// folder a channel with a file a day, an array of messages.
type slack struct {
	*archive
	users map[string]slackUser
}

type slackUser struct {
	name string
	bot  bool
}

// A slackChannel is a folder, and what the export says of it.
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
		s := slack{a, map[string]slackUser{}}
		channels, err := s.channels()
		if err == nil {
			err = s.readUsers()
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for _, c := range channels {
			if !yield(s.channel(in.name, c)) {
				return
			}
		}
	}
}

// day is the name of a file of messages.
var day = regexp.MustCompile(`^\d{4}-\d\d-\d\d\.json$`)

// channels finds the folders with messages.
func (s slack) channels() ([]*slackChannel, error) {
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
		return nil, unknown(s.name, "it is a zip, but no folder of it holds days of messages, CHANNEL/YYYY-MM-DD.json, as an export of Slack does")
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
			if f := found[c.get("name").word()]; f != nil {
				f.about = cmp.Or(c.get("purpose").get("value").word(), c.get("topic").get("value").word())
			}
		}
		if doc.failed() != nil {
			return nil, doc.failed()
		}
	}
	return all, nil
}

// readUsers reads what people are called.
func (s slack) readUsers() error {
	if s.files["users.json"] == nil {
		return nil
	}
	doc, err := s.document("users.json")
	if err != nil {
		return err
	}
	for u := range doc.items() {
		profile := u.get("profile")
		s.users[u.need("id").text()] = slackUser{
			name: cmp.Or(profile.get("display_name").word(), u.get("name").word(), profile.get("real_name").word()),
			bot:  u.get("is_bot").flag(),
		}
	}
	return doc.failed()
}

// channel reads the days of a channel.
func (s slack) channel(file string, c *slackChannel) (*Conversation, error) {
	t := newTalk(file, Slack, stem(file)+"/"+c.folder)
	t.objective, t.report.Order = c.about, slackOrder
	var said []slackMessage
	slices.Sort(c.days)
	for _, name := range c.days {
		doc, err := s.document(name)
		if err != nil {
			return nil, err
		}
		for m := range doc.items() {
			said = append(said, slackMessage{m, m.need("ts").text(), m.need("ts").number()})
		}
		if doc.failed() != nil {
			return nil, doc.failed()
		}
	}
	slices.SortStableFunc(said, func(a, b slackMessage) int { return cmp.Compare(a.at, b.at) })
	authors := map[string]string{} // of the messages that have replies
	for _, m := range said {
		s.message(t, m, authors)
		if err := m.failed(); err != nil {
			return nil, err
		}
	}
	return t.done(nil)
}

type slackMessage struct {
	value
	ts string
	at float64 // seconds since 1970
}

// spoken are the subtypes of messages that somebody wrote.
var spoken = map[string]bool{
	"": true, "bot_message": true, "me_message": true, "thread_broadcast": true, "reply_broadcast": true,
	"file_share": true, "file_comment": true, "file_mention": true,
}

func (s slack) message(t *talk, m slackMessage, authors map[string]string) {
	kind := m.get("subtype").text()
	switch {
	case m.get("type").text() != "message":
		t.leave("entry of type " + orPlain(m.get("type").word()))
		return
	case !spoken[kind]:
		t.leave("notice of the program (" + cut(clean(kind), 60) + ")")
		return
	}
	who := s.author(t, m, kind)
	if who == "" {
		t.leave("message without an author")
		return
	}
	p := piece{speaker: who, at: slackTime(m.ts)}
	p.text, p.to = s.readable(t, m.get("text").text())
	if strings.TrimSpace(p.text) == "" {
		p.text, p.to = s.attached(t, m)
	} else if list := m.get("attachments"); list.kind() == '[' {
		for range list.items() {
			t.leave("preview of a link beside a text")
		}
	}
	authors[m.ts] = who
	if thread := m.get("thread_ts").word(); thread != "" && thread != m.ts {
		if parent := cmp.Or(m.get("parent_user_id").word(), authors[thread]); parent != "" {
			p.to = append([]string{s.person(t, parent)}, p.to...)
		}
	}
	if strings.TrimSpace(p.text) == "" {
		t.leave("message without a text")
		return
	}
	t.say(p)
}

// author seats who wrote a message.
func (s slack) author(t *talk, m slackMessage, kind string) string {
	id := m.get("user").text()
	if kind == "file_comment" && id == "" {
		id = m.get("comment").get("user").word()
	}
	if id != "" {
		return s.person(t, id)
	}
	bot := m.get("bot_id").text()
	name := cmp.Or(m.get("username").word(), m.get("bot_profile").get("name").word())
	return t.seat(cmp.Or(bot, name), name, transcripts.KindTool, "")
}

// person seats a member of the workspace.
func (s slack) person(t *talk, id string) string {
	kind := transcripts.KindHuman
	if s.users[id].bot {
		kind = transcripts.KindAgent
	}
	return t.seat(id, s.users[id].name, kind, "")
}

// attached returns the texts of the attachments of a message that has no text
// of its own, as those of applications have none.
func (s slack) attached(t *talk, m slackMessage) (string, []string) {
	list := m.get("attachments")
	if list.kind() != '[' {
		return "", nil
	}
	var texts, to []string
	for a := range list.items() {
		for _, key := range []string{"pretext", "title", "text"} {
			text, ids := s.readable(t, a.get(key).word())
			if text != "" {
				texts, to = append(texts, text), append(to, ids...)
			}
		}
		if len(texts) == 0 {
			if text, ids := s.readable(t, a.get("fallback").word()); text != "" {
				texts, to = append(texts, text), append(to, ids...)
			}
		}
	}
	return strings.Join(texts, "\n"), to
}

// marked is what Slack puts between angle brackets: a mention of a person,
// channel or group, or a link.
var marked = regexp.MustCompile(`<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>`)

// readable writes a text as Slack shows it, and returns whom it mentions.
func (s slack) readable(t *talk, text string) (string, []string) {
	var to []string
	text = marked.ReplaceAllStringFunc(text, func(m string) string {
		parts := marked.FindStringSubmatch(m)
		sign, id, label := parts[1], parts[2], parts[3]
		switch sign {
		case "@":
			if id = s.person(t, id); id == "" {
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

// slackTime reads a message's ts: seconds since 1970, a dot, and a number that
// makes it unique.
func slackTime(ts string) time.Time {
	whole, frac, _ := strings.Cut(ts, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n <= 0 || n > 253402300799 {
		return time.Time{}
	}
	micros, _ := strconv.ParseInt((frac + "000000")[:6], 10, 64)
	return time.Unix(n, micros*1000)
}
