package foreign

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/transcripts"
)

// Lines have two forms: "[09:14] <nick> text" and "16:04:50 <nick> text", with
// or without seconds. An action has "* nick" instead of "<nick>". Some clients,
// such as irssi, put the mode of the nick before it.
var (
	ircLine   = regexp.MustCompile(`^(?:\[(\d\d?):(\d\d)(?::(\d\d))?\]|(\d\d?):(\d\d)(?::(\d\d))?) ?(?:<([ @+%~&]?)([^<>\s]+)>|\* (\S+)) ?(.*)$`)
	ircNotice = regexp.MustCompile(`^(?:=== |--- |-!- |(?:\[\d\d?:\d\d(?::\d\d)?\]|\d\d?:\d\d(?::\d\d)?) (?:-!-|===|\*\*\*|-->|<--|---) )`)
)

// looksIRC reports whether the first lines of a text are lines of an IRC log.
func looksIRC(raw []byte) bool {
	said, seen := 0, 0
	for line := range strings.Lines(string(raw[:min(len(raw), 16<<10)])) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.TrimSpace(line) == "":
			continue
		case ircLine.MatchString(line):
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

// An ircReader reads a log.
type ircReader struct {
	*builder
	minutes minutes
	clock   float64 // seconds since the midnight before the first line
	start   float64
	before  float64 // of the line before
	started bool
}

// readIRC reads a log of either form. With bots such as RRSAgent in it, the log
// is that of a W3C meeting; see minutes.
func readIRC(in *input) (*builder, error) {
	t := in.newBuilder(IRC, "")
	r := ircReader{builder: t}
	r.minutes = newMinutes(string(in.raw))
	for n, line := range t.lines(in.raw) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		m := ircLine.FindStringSubmatch(line)
		switch {
		case m != nil:
			r.line(m)
		case ircNotice.MatchString(line):
			r.leaveOut("notice of the server")
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
	at := r.time(m[1]+m[4], m[2]+m[5], m[3]+m[6])
	nick, text := m[8]+m[9], m[10]
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

// time returns the seconds since the first line. A clock that goes back by more
// than half a day has passed midnight.
func (r *ircReader) time(hour, minute, second string) float64 {
	var n [3]float64
	for i, s := range []string{hour, minute, second} {
		n[i], _ = strconv.ParseFloat(s, 64) // digits, or "" for no seconds
	}
	at := n[0]*3600 + n[1]*60 + n[2]
	switch {
	case !r.started:
		r.started, r.start = true, at
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
	w3cNick     = regexp.MustCompile(`(?m)^\d\d?:\d\d(?::\d\d)? ?<([^<>\s]+)>`)
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
