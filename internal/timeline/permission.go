package timeline

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/room"
)

// asked shows a permission request. All that the agent says stands behind a bar.
func (p *Printer) asked(b room.PermissionAsked) string {
	x := b.Permission
	if x.Question != nil {
		return p.question(b)
	}
	var lines []string
	line := func(name, text string) {
		if text != "" {
			lines = append(lines, name+": "+text)
		}
	}
	line("command", exact(x.Command))
	var words []string
	for _, w := range x.Argv {
		words = append(words, strconv.Quote(w))
	}
	line("words", strings.Join(words, " "))
	for _, file := range x.Paths {
		line("file", exact(file))
	}
	for _, d := range x.Diffs {
		lines = append(lines, diffLines(d)...)
	}
	line("title", x.Title)
	line("detail", x.Detail)
	head := fmt.Sprintf("%s asks for permission %s: %s", p.label(b.Participant), b.ID, x.Kind)
	if len(lines) == 0 {
		return p.hang(yellow, "? ", head) + "\n"
	}
	return p.hang(yellow, "? ", head+", in its own words:") + p.unsaid(strings.Join(lines, "\n")) + "\n"
}

// diffLines shows what an action writes: the lines between those at both ends that
// stay.
func diffLines(d endpoint.Diff) []string {
	was, is := splitLines(d.Old), splitLines(d.New)
	head := 0
	for head < min(len(was), len(is)) && was[head] == is[head] {
		head++
	}
	tail := 0
	for tail < min(len(was), len(is))-head && was[len(was)-1-tail] == is[len(is)-1-tail] {
		tail++
	}
	lines := []string{"writes: " + exact(d.Path)}
	for _, l := range was[head : len(was)-tail] {
		lines = append(lines, "- "+exact(l))
	}
	for _, l := range is[head : len(is)-tail] {
		lines = append(lines, "+ "+exact(l))
	}
	return lines
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// answered shows the answer to a permission request.
func (p *Printer) answered(e room.Event, b room.PermissionAnswered) string {
	id := "permission " + term.Line(b.ID)
	switch {
	case p.forms[b.ID] || b.Values != nil:
		return p.questionAnswered(e, b)
	case b.Allowed && e.Actor == room.ActorRoom:
		return p.notice(dim, id+" allowed by the rule "+term.Line(b.Reason))
	case b.Allowed && b.Always:
		return p.notice(green, id+" allowed"+p.by(e.Actor)+from(e)+", also for the like"+because(b.Reason))
	case b.Allowed:
		return p.notice(green, id+" allowed"+p.by(e.Actor)+from(e)+because(b.Reason))
	case e.Actor == room.ActorRoom:
		return p.notice(yellow, id+" refused"+because(b.Reason))
	}
	return p.notice(yellow, id+" denied"+p.by(e.Actor)+from(e)+because(b.Reason))
}

// exact returns text in a form in which each character can be seen.
func exact(s string) string {
	if term.Line(s) == s {
		return s
	}
	return strconv.QuoteToASCII(s)
}

// asking returns the id of the permission request that e makes, or "". One that a
// rule has answered at once does not wait.
func (s *Session) asking(e room.Event) string {
	b, ok := e.Body.(room.PermissionAsked)
	if ok && slices.ContainsFunc(s.Room.View().Requests, func(r room.PermissionRequest) bool { return r.ID == b.ID }) {
		return b.ID
	}
	return ""
}

// noteAnswered removes a request that has an answer. If the oldest one ends by
// itself, the next answer must not reach the one after it by accident.
func (s *Session) noteAnswered(e room.Event, b room.PermissionAnswered) {
	first := len(s.requests) > 0 && s.requests[0].ID == b.ID
	s.requests = slices.DeleteFunc(s.requests, func(r room.PermissionAsked) bool { return r.ID == b.ID })
	s.passedOver = ""
	if first && len(s.requests) > 0 && e.Actor != s.actor() {
		s.passedOver = b.ID
	}
}

// oldest returns the request to answer where none is named: the oldest that is
// shown.
func (s *Session) oldest() (room.PermissionAsked, error) {
	if len(s.requests) == 0 {
		return room.PermissionAsked{}, usage("no agent asks for a permission", "")
	}
	r := s.requests[0]
	if ended := s.passedOver; ended != "" {
		s.passedOver = ""
		return r, usage("permission request "+ended+" has ended, and nothing was answered", "look at request "+r.ID+", and answer again")
	}
	return r, nil
}

var requestID = regexp.MustCompile(`^[0-9]+\.[0-9]+$`)

// request splits the id of a waiting request off rest. Without one it is the oldest.
func (s *Session) request(rest string) (r room.PermissionAsked, text string, err error) {
	id, text, _ := strings.Cut(rest, " ")
	if !requestID.MatchString(id) {
		r, err = s.oldest()
		return r, rest, err
	}
	for _, r := range s.requests {
		if r.ID == id {
			return r, strings.TrimSpace(text), nil
		}
	}
	return r, "", usage("no permission request "+id+" waits", "")
}

// permit returns the command that allows a request, once or for the like too.
func permit(always bool) func(*Session, string) (room.Act, error) {
	return func(s *Session, rest string) (room.Act, error) {
		r, text, err := s.request(rest)
		if err == nil && text != "" {
			err = usage("nothing was allowed: a permission is given without words", "allow, or allow "+r.ID)
		}
		if err == nil && always && !r.Permission.Always {
			err = usage("the agent does not offer to remember an answer", "allow it once; a rule under allow: in room.yaml answers the like")
		}
		return room.Permit{ID: r.ID, Allowed: true, Always: always}, err
	}
}

func deny(s *Session, rest string) (room.Act, error) {
	r, reason, err := s.request(rest)
	return room.Permit{ID: r.ID, Reason: reason}, err
}

// requested reports whether a permission request waits, or none comes any more.
func requested(s *Session, rest string) bool { return len(s.requests) > 0 || resting(s, rest) }

// adviseRequest says how to answer a request where there are no keys.
func (s *Session) adviseRequest(id string) {
	what, choice := "permission request ", "allow "+id
	if len(s.requests) > 0 {
		switch x := s.requests[len(s.requests)-1].Permission; {
		case x.Question != nil:
			what, choice = "question ", "reply "+id+" "+x.Question.Example()
		case x.Always:
			choice += ", always " + id
		}
	}
	s.reply(func(st Style) string {
		return st.paint(yellow, "? ") + st.body(what+id+" waits: type "+choice+" or deny "+id+" [REASON]", "")
	})
}

// refuseRequests refuses the requests that wait, because there is no more input.
func (s *Session) refuseRequests() {
	for _, r := range s.requests {
		s.act(room.Permit{ID: r.ID, Absent: true, Reason: endpoint.AbsentReason(r.Permission.Question != nil)})
	}
}

// waiting says for which request the room waits, and how long it still does.
func (s *Session) waiting(v room.View, now time.Time) string {
	r, who, what := v.Requests[0], "an agent", "permission"
	if r.Permission.Question != nil {
		what = "answer to question"
	}
	for _, x := range v.Seats {
		if x.Phase == "waiting for permission" {
			who = s.Printer.label(x.ID)
		}
	}
	return fmt.Sprintf("%s waits for your %s %s, %s left", who, what, r.ID, clockOf(s.left(r, now)))
}

// left returns how long a permission request of the room still waits. Its time stands
// while the room is paused.
func (s *Session) left(r room.PermissionRequest, now time.Time) time.Duration {
	return max(0, r.Until()-s.clock(s.view, now))
}

// requestHint returns the keys that answer the oldest request.
func (x *screen) requestHint() string {
	r := x.requests[0]
	hint := "Ctrl-Y allow " + r.ID + "  Ctrl-G deny"
	if q := r.Permission.Question; q != nil {
		hint = "/reply " + r.ID + " " + q.Example() + "  Ctrl-G decline"
	}
	if r.Permission.Always {
		hint += "  /always"
	}
	if x.pane.held {
		hint += "  PgDn more"
	}
	if n := len(x.requests) - 1; n > 0 {
		hint += fmt.Sprintf("  (%d more: Ctrl-V)", n)
	}
	return hint + "  /help"
}
