package foreign

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/transcripts"
)

// The two shapes of lines: "[09:14] <nick> text" and "16:04:50 <nick> text",
// the seconds left out or not in either; an action has "* nick" for "<nick>".
// irssi and others put the nick's mode before it.
var (
	ircLine   = regexp.MustCompile(`^(?:\[(\d\d?):(\d\d)(?::(\d\d))?\]|(\d\d?):(\d\d)(?::(\d\d))?) ?(?:<([ @+%~&]?)([^<>\s]+)>|\* (\S+)) ?(.*)$`)
	ircNotice = regexp.MustCompile(`^(?:=== |--- |-!- |(?:\[\d\d?:\d\d(?::\d\d)?\]|\d\d?:\d\d(?::\d\d)?) (?:-!-|===|\*\*\*|-->|<--|---) )`)
)

// looksIRC reports whether the first lines of a text are those of a log.
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

// An irc reads a log.
type irc struct {
	*talk
	w3c    w3c
	clock  float64 // seconds since the midnight before the first line
	start  float64
	before float64 // of the line before
	any    bool
}

// readIRC reads a log of either shape. Where RRSAgent and its like took part
// it is the minutes of a meeting, see w3c.
func readIRC(in *input) (*talk, error) {
	t := newTalk(in.name, IRC, "")
	r := irc{talk: t}
	r.w3c = minutesOf(string(in.raw))
	for n, line := range t.lines(in.raw) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		m := ircLine.FindStringSubmatch(line)
		switch {
		case m != nil:
			r.line(m)
		case ircNotice.MatchString(line):
			r.leave("notice of the server")
		default:
			return nil, misshapen(fmt.Sprintf("%s:%d", in.name, n), fmt.Sprintf("the line is neither said by somebody nor a notice: %.60q", line), nil)
		}
	}
	return t, nil
}

// line takes what somebody said, m as ircLine finds it.
func (r *irc) line(m []string) {
	at := r.time(m[1]+m[4], m[2]+m[5], m[3]+m[6])
	nick, text := m[8]+m[9], m[10]
	p := piece{speaker: nick, text: text, seconds: &at}
	if r.w3c.meeting {
		var why string
		if p, why = r.w3c.turn(p); why != "" {
			r.leave(why)
			return
		}
	}
	if strings.TrimSpace(p.text) == "" {
		r.leave("message without a text")
		return
	}
	p.speaker = r.seat(p.speaker, "", transcripts.KindHuman, "")
	r.say(p)
}

// time returns the seconds since the first line. A clock that goes back by
// more than half a day has passed midnight.
func (r *irc) time(hour, minute, second string) float64 {
	var n [3]float64
	for i, s := range []string{hour, minute, second} {
		n[i], _ = strconv.ParseFloat(s, 64) // digits, or "" for no seconds
	}
	at := n[0]*3600 + n[1]*60 + n[2]
	switch {
	case !r.any:
		r.any, r.start = true, at
	case at < r.before-12*3600:
		r.clock += 24 * 3600
	case at > r.before+12*3600 && r.clock > 0: // a line from before midnight comes late
		r.clock -= 24 * 3600
	}
	r.before = at
	return r.clock + at - r.start
}
