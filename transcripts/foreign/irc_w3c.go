package foreign

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A w3c understands the log of a meeting of the W3C, in which a scribe writes
// down what others say: "Name: text", and "... text" for more of it. Commands
// to the bots are no part of what is said.
type w3c struct {
	meeting bool
	nicks   map[string]string // in lower case, to the nick as it is written
	scribes []string
	last    string // whose words the scribe wrote last
	quotes  int    // how often the scribe began with a name
}

var (
	w3cNick     = regexp.MustCompile(`(?m)^\d\d?:\d\d(?::\d\d)? ?<([^<>\s]+)>`)
	w3cBots     = map[string]bool{"rrsagent": true, "zakim": true, "agendabot": true, "trackbot": true, "ghurlbot": true, "gb": true, "github-bot": true, "tidoust-bot": true}
	w3cQueue    = regexp.MustCompile(`(?i)^\s*(?:q[+\-?=]|v?q(?:ueue)?[+\-=]|ack\b|vack\b|present[+\-=]|regrets[+\-=]|chair[+\-]?[:+\-]|agenda[+\-:?]|agendum\b|zakim,|rrsagent,|agendabot,|trackbot,|ghurlbot,|gb,|scribe[+\-:]|scribenick[+\-:]|meeting:|previous meeting:|next meeting:|topic:|subtopic:|s/.*/.*/|i/.*/.*/|clear agenda|prevmeeting\b|\+1$|-1$|q$)`)
	w3cJoined   = regexp.MustCompile(`^(\S+) has (?:joined|left|changed)\b`)
	w3cQuoted   = regexp.MustCompile(`^([\pL\pN_.|-]{1,40}): ?(.+)$`)
	w3cScribe   = regexp.MustCompile(`(?i)^scribe(nick)?(\+|:)\s*(.*)$`)
	w3cContinue = regexp.MustCompile(`^(?:\.\.\.|…)\s*(.*)$`)
)

// minutesOf looks whether raw is the log of a meeting, and who was in it.
func minutesOf(raw string) w3c {
	w := w3c{nicks: map[string]string{}}
	for _, m := range w3cNick.FindAllStringSubmatch(raw, -1) {
		w.nicks[strings.ToLower(m[1])] = m[1]
	}
	w.meeting = w.nicks["rrsagent"] != "" || w.nicks["zakim"] != ""
	return w
}

// turn returns who said the words of a line, or why it is no turn.
func (w *w3c) turn(p piece) (piece, string) {
	m := w3cScribe.FindStringSubmatch(p.text)
	switch {
	case w3cBots[strings.ToLower(p.speaker)]:
		return p, "line of a bot"
	case m != nil:
		w.scribe(p.speaker, m[2], m[3])
		return p, "command to a bot"
	case w3cQueue.MatchString(p.text) && !strings.HasPrefix(p.text, "+1 "):
		return p, "command to a bot"
	}
	if joined := w3cJoined.FindStringSubmatch(p.text); joined != nil && joined[1] == p.speaker {
		return p, "notice of the server"
	}
	if !slices.Contains(w.scribes, strings.ToLower(p.speaker)) {
		return p, ""
	}
	if c := w3cContinue.FindStringSubmatch(p.text); c != nil && w.last != "" {
		p.speaker, p.text, p.id = w.last, c[1], strconv.Itoa(w.quotes)
		return p, ""
	}
	if q := w3cQuoted.FindStringSubmatch(p.text); q != nil && w.nicks[strings.ToLower(q[1])] != "" {
		w.last = w.nicks[strings.ToLower(q[1])]
		w.quotes++
		p.speaker, p.text, p.id = w.last, q[2], strconv.Itoa(w.quotes)
	}
	return p, ""
}

// scribe notes who writes from here on: "scribe+" and "scribe+ nick" add one,
// "scribe: nick" and "scribenick: nick" name the only one.
func (w *w3c) scribe(who, sign, names string) {
	if names = strings.TrimSpace(names); names != "" {
		who = strings.Fields(names)[0]
	}
	who = strings.ToLower(strings.Trim(who, ",;"))
	if sign == ":" {
		w.scribes = nil
	}
	if !slices.Contains(w.scribes, who) {
		w.scribes = append(w.scribes, who)
	}
}
