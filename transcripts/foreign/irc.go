package foreign

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/transcripts"
)

// Lines have two forms: "[09:14] <nick> text", also with a day of the week, and
// "16:04:50 <nick> text", with or without seconds. An action has "* nick" instead of "<nick>". Some clients,
// such as irssi, put the mode of the nick before it.
var (
	ircLine = regexp.MustCompile(`^(?:\[(?:(Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?(\d\d?):(\d\d)(?::(\d\d))?\]|(\d\d?):(\d\d)(?::(\d\d))?) ?(?:<([ @+%~&]?)([^<>\s]+)>|\* (\S+)) ?(.*)$`)
	// ircHead is the first of two lines of RRSAgent; the second one has the text.
	ircHead   = regexp.MustCompile(`^(\d\d:\d\d:\d\d) \[([^\[\]\s]+)\][ \t\r]*$`)
	ircDay    = regexp.MustCompile(`^\[(Mon|Tue|Wed|Thu|Fri|Sat|Sun) (\d\d?):(\d\d)\] (\pL[\pL\pN ._'-]{0,39}): (.+)$`)
	ircNotice = regexp.MustCompile(`^(?:IRC log of |Timestamps are in |=== |--- |-!- |(?:\[(?:\w{3} )?\d\d?:\d\d(?::\d\d)?\]|\d\d?:\d\d(?::\d\d)?) (?:-!-|===|\*\*\*|-->|<--|---) )`)
)

// looksIRC reports whether the first lines of a text are lines of an IRC log.
func looksIRC(raw []byte) bool {
	said, seen := 0, 0
	head := ""
	for line := range strings.Lines(string(raw[:min(len(raw), 16<<10)])) {
		line = strings.TrimRight(line, "\r\n")
		if line, head = withHead(line, head); line == "" {
			continue
		}
		switch {
		case strings.TrimSpace(line) == "":
			continue
		case ircLine.MatchString(line), ircDay.MatchString(line):
			said++
		case !ircNotice.MatchString(line):
			return false
		}
		if seen++; seen == 50 {
			break
		}
	}
	return said > 0
}

// withHead returns a line of the two-line form as one line, "" for its first line. head
// is that line, which holds for the lines after it.
func withHead(line, head string) (one, next string) {
	if m := ircHead.FindStringSubmatch(line); m != nil {
		return "", m[1] + " <" + m[2] + "> "
	}
	if head == "" || strings.TrimSpace(line) == "" || ircLine.MatchString(line) {
		return line, head
	}
	return head + line, head
}

// An ircReader reads a log.
type ircReader struct {
	*builder
	minutes minutes
	clock   float64 // seconds since the midnight before the first line
	start   float64
	before  float64 // of the line before
	started bool
	day     string // of the line before, "" if the log has none
}

var weekdays = map[string]int{"Mon": 0, "Tue": 1, "Wed": 2, "Thu": 3, "Fri": 4, "Sat": 5, "Sun": 6}

// readIRC reads a log of either form. With bots such as RRSAgent in it, the log
// is that of a W3C meeting; see minutes.
func readIRC(in *input) (*builder, error) {
	t := in.newBuilder(IRC, "")
	r := ircReader{builder: t}
	r.minutes = newMinutes(string(in.raw))
	head := ""
	for n, line := range t.lines(in.raw) {
		if line, head = withHead(line, head); strings.TrimSpace(line) == "" {
			continue
		}
		m := ircLine.FindStringSubmatch(line)
		switch {
		case m != nil:
			r.line(m)
		case ircNotice.MatchString(line):
			r.leaveOut("notice of the server")
		case ircDay.MatchString(line):
			m = ircDay.FindStringSubmatch(line)
			r.line([]string{"", m[1], m[2], m[3], "", "", "", "", "", m[4], "", m[5]})
		default:
			err := t.skip(shapeError(fmt.Sprintf("%s:%d", in.name, n), fmt.Sprintf("the line is neither a message nor a notice: %.60q", line), nil))
			if err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// line adds a message; m is the match of ircLine.
func (r *ircReader) line(m []string) {
	at := r.time(m[1], m[2]+m[5], m[3]+m[6], m[4]+m[7])
	nick, text := m[9]+m[10], m[11]
	p := piece{speaker: nick, text: text, seconds: &at}
	if r.minutes.meeting {
		var why string
		if p, why = r.minutes.turn(p); why != "" {
			r.leaveOut(why)
			return
		}
	}
	if strings.TrimSpace(p.text) == "" {
		r.leaveOut("message without a text")
		return
	}
	p.speaker = r.participant(p.speaker, "", transcripts.KindHuman, "")
	r.addTurn(p)
}

// time returns the seconds since the first line. Without a day of the week, a clock that
// goes back by more than half a day has passed midnight.
func (r *ircReader) time(day, hour, minute, second string) float64 {
	var n [3]float64
	for i, s := range []string{hour, minute, second} {
		n[i], _ = strconv.ParseFloat(s, 64) // digits, or "" for no seconds
	}
	at := n[0]*3600 + n[1]*60 + n[2]
	switch {
	case !r.started:
		r.started, r.start, r.day = true, at, day
	case day != "" && r.day != "":
		r.clock += 24 * 3600 * float64((weekdays[day]-weekdays[r.day]+7)%7)
		r.day = day
	case at < r.before-12*3600:
		r.clock += 24 * 3600
	case at > r.before+12*3600 && r.clock > 0: // a late line from before midnight
		r.clock -= 24 * 3600
	}
	r.before = at
	return r.clock + at - r.start
}

// A minutes interprets the log of a W3C meeting. A scribe writes down what other
// people say as "Name: text" and continues with "... text". Commands to the
// bots are left out.
type minutes struct {
	meeting    bool
	nicks      map[string]string // in lower case, to the nick as it is written
	scribes    []string
	lastQuoted string // whose words the scribe wrote last
	quoteCount int    // how often the scribe began with a name
}

var (
	w3cNick     = regexp.MustCompile(`(?m)^\d\d?:\d\d(?::\d\d)? ?[<\[]([^<>\[\]\s]+)[>\]]`)
	w3cBots     = map[string]bool{"rrsagent": true, "zakim": true, "agendabot": true, "trackbot": true, "ghurlbot": true, "gb": true, "github-bot": true, "tidoust-bot": true}
	w3cQueue    = regexp.MustCompile(`(?i)^\s*(?:q[+\-?=]|v?q(?:ueue)?[+\-=]|ack\b|vack\b|present[+\-=]|regrets[+\-=]|chair[+\-]?[:+\-]|agenda[+\-:?]|agendum\b|zakim,|rrsagent,|agendabot,|trackbot,|ghurlbot,|gb,|scribe[+\-:]|scribenick[+\-:]|meeting:|previous meeting:|next meeting:|topic:|subtopic:|s/.*/.*/|i/.*/.*/|clear agenda|prevmeeting\b|\+1$|-1$|q$)`)
	w3cJoined   = regexp.MustCompile(`^(\S+) has (?:joined|left|changed)\b`)
	w3cQuoted   = regexp.MustCompile(`^([\pL\pN_.|-]{1,40}): ?(.+)$`)
	w3cScribe   = regexp.MustCompile(`(?i)^scribe(nick)?(\+|:)\s*(.*)$`)
	w3cContinue = regexp.MustCompile(`^(?:\.\.\.|…)\s*(.*)$`)
)

// newMinutes detects whether raw is the log of a meeting, and its participants.
func newMinutes(raw string) minutes {
	w := minutes{nicks: map[string]string{}}
	for _, m := range w3cNick.FindAllStringSubmatch(raw, -1) {
		w.nicks[strings.ToLower(m[1])] = m[1]
	}
	w.meeting = w.nicks["rrsagent"] != "" || w.nicks["zakim"] != ""
	return w
}

// turn returns a line with its real speaker, or the reason to leave it out.
func (w *minutes) turn(p piece) (piece, string) {
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
	if c := w3cContinue.FindStringSubmatch(p.text); c != nil && w.lastQuoted != "" {
		p.speaker, p.text, p.id = w.lastQuoted, c[1], strconv.Itoa(w.quoteCount)
		return p, ""
	}
	if q := w3cQuoted.FindStringSubmatch(p.text); q != nil && w.nicks[strings.ToLower(q[1])] != "" {
		w.lastQuoted = w.nicks[strings.ToLower(q[1])]
		w.quoteCount++
		p.speaker, p.text, p.id = w.lastQuoted, q[2], strconv.Itoa(w.quoteCount)
	}
	return p, ""
}

// scribe records the scribes from here on: "scribe+" and "scribe+ nick" add a
// scribe, "scribe: nick" and "scribenick: nick" replace all.
func (w *minutes) scribe(who, sign, names string) {
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
