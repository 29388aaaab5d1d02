package timeline

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// A verb is a command of the person.
type verb struct {
	name, args, help string
	script           bool // of use in scripts only
	seat             bool // begins with a participant that a menu can ask for
	// ready reports whether a command of a script can run now; nil means always.
	ready func(s *Session, rest string) bool
	// act returns the act of the command. It is nil for commands that the session
	// itself runs.
	act func(s *Session, rest string) (room.Act, error)
}

// drafted reports whether a draft waits, or none comes any more.
func drafted(s *Session, rest string) bool { return s.draft != "" || resting(s, rest) }

func resting(s *Session, _ string) bool { return s.phase != room.PhaseLive }

// verbs returns the commands in the order of help.
func verbs() []verb {
	return []verb{
		{name: "say", args: "TEXT", help: "say something to everybody", act: (*Session).say},
		{name: "to", args: "WHO TEXT", help: "say something to one participant", act: sayTo},
		{name: "approve", help: "send the draft that waits", ready: drafted, act: approve},
		{name: "edit", args: "TEXT", help: "replace the text of the draft", ready: drafted, act: edit},
		{name: "reject", args: "[REASON]", help: "refuse the draft", ready: drafted, act: reject},
		{name: "allow", args: "[REQUEST]", help: "permit what an agent asks for, this once", ready: requested, act: permit(false)},
		{name: "always", args: "[REQUEST]", help: "permit it, and the like in future", ready: requested, act: permit(true)},
		{name: "deny", args: "[REQUEST] [REASON]", help: "refuse what an agent asks for", ready: requested, act: deny},
		{name: "reply", args: "[REQUEST] NAME=VALUE...", help: "fill in the form of an agent's question", ready: requested, act: replyTo},
		{name: "pause", args: "[REASON]", help: "stop sending at once", act: func(_ *Session, r string) (room.Act, error) { return room.Pause{Reason: r}, nil }},
		{name: "resume", help: "go on", ready: resting, act: func(*Session, string) (room.Act, error) { return room.Resume{}, nil }},
		{name: "takeover", args: "WHO", help: "speak for an agent yourself", seat: true, act: takeOver},
		{name: "as", args: "WHO TEXT", help: "say something for a seat that you have taken over", act: sayAs},
		{name: "release", args: "[WHO]", help: "hand the seat back", seat: true, act: release},
		{name: "next", args: "WHO", help: "give an agent the floor without asking the policy", seat: true, act: next},
		{name: "auto", args: "WHO", help: "send what an agent says without approval until the room ends", seat: true, act: mode(room.FullAuto)},
		{name: "review", args: "WHO", help: "review it again as room.yaml says", seat: true, act: mode("")},
		{name: "mute", args: "WHO [REASON]", help: "let an agent hear and not speak", seat: true, act: standing(room.Muted)},
		{name: "unmute", args: "WHO", help: "let it speak again", seat: true, act: standing(room.Active)},
		{name: "suspend", args: "WHO [REASON]", help: "take an agent out of the room for now", seat: true, act: standing(room.Suspended)},
		{name: "restore", args: "WHO", help: "let it back in", seat: true, act: standing(room.Active)},
		{name: "remove", args: "WHO [REASON]", help: "take an agent out of the room", seat: true, act: standing(room.Removed)},
		{name: "redact", args: "EVENT [REASON]", help: "remove what event number EVENT said", act: redact},
		{name: "limits", args: "NAME=VALUE...", help: "change limits, by their names in room.yaml: maxTurns=60 maxCost=2.50", act: limits},
		{name: "policy", args: "NAME", help: "change the policy", act: changePolicy},
		{name: "complete", args: "[REASON]", help: "end the room: the work is done", act: func(_ *Session, r string) (room.Act, error) { return room.Complete{Reason: r}, nil }},
		{name: "stop", args: "[REASON]", help: "end the room", act: func(_ *Session, r string) (room.Act, error) { return room.Stop{Reason: r}, nil }},
		{name: "roster", help: "show who is in the room, and what each does"},
		{name: "inbox", help: "show what waits for you in all rooms, and answer it"},
		{name: "wait", args: "draft|permission|pause|turn N", help: "in scripts: wait for a draft, for a permission request, for a pause, for the end of turn N, or for the end of the room", script: true, ready: awaited},
		{name: "help", help: "show this"},
		{name: "quit", help: "pause the room and leave; with moot attach only leave"},
	}
}

// awaited reports whether the condition of the command wait is met, or cannot be
// met any more because the room is not live. A text without a condition is not
// awaited, because the line may be a sentence.
func awaited(s *Session, rest string) bool {
	turn, err := condition(rest)
	switch {
	case err != nil || resting(s, rest):
		return true
	case rest == "draft":
		return drafted(s, rest)
	case rest == "permission":
		return requested(s, rest)
	}
	return turn >= 0 && s.turns >= turn
}

// condition checks the condition of the command wait. It returns N of "turn N",
// else -1.
func condition(rest string) (turn int, err error) {
	if rest == "draft" || rest == "permission" || rest == "pause" {
		return -1, nil
	}
	number, ok := strings.CutPrefix(rest, "turn ")
	if turn, err = strconv.Atoi(strings.TrimSpace(number)); !ok || err != nil {
		return 0, usage("there is nothing to wait for in "+strconv.Quote(term.Line(rest)), "wait draft, wait permission, wait pause or wait turn N; to say something: say TEXT")
	}
	return turn, nil
}

// parse splits a command line into its verb and the rest. It refuses a rest that
// the command does not take, because the line may be a sentence.
func parse(line string) (verb, string, error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	for _, v := range verbs() {
		if v.name != strings.ToLower(name) {
			continue
		}
		if v.args == "" && rest != "" {
			return verb{}, "", usage(v.name+" takes no text, and nothing was done", "write `"+v.name+"` alone; to say something: say TEXT")
		}
		return v, rest, nil
	}
	return verb{}, "", usage("there is no command "+strconv.Quote(term.Line(name)), "`help` lists the commands; to say something: say TEXT")
}

func usage(what, fix string) error {
	return &problem.Error{Code: "CLI-COMMAND", What: what, Fix: fix}
}

// who splits the name of a participant off rest: an id, a display name, or an
// unambiguous prefix of one.
func (s *Session) who(rest string) (id, text string, err error) {
	name, text, _ := strings.Cut(rest, " ")
	name, text = strings.TrimPrefix(strings.TrimSuffix(name, ":"), "@"), strings.TrimSpace(text)
	if name == "" {
		return "", "", usage("whom do you mean?", "the participants are "+strings.Join(s.ids(), ", "))
	}
	var found []string
	for _, x := range s.Room.View().Seats {
		if strings.EqualFold(x.ID, name) || x.Name != "" && strings.EqualFold(x.Name, name) {
			return x.ID, text, nil
		}
		if hasFold(x.ID, name) || hasFold(x.Name, name) {
			found = append(found, x.ID)
		}
	}
	if len(found) == 1 {
		return found[0], text, nil
	}
	return "", "", usage(strconv.Quote(term.Line(name))+" is no participant of this room", "the participants are "+strings.Join(s.ids(), ", "))
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func (s *Session) ids() []string {
	var ids []string
	for _, x := range s.Room.View().Seats {
		ids = append(ids, x.ID)
	}
	return ids
}

// agents returns the participants that a person can take over, mute and so on.
func (s *Session) agents() []room.SeatView {
	var out []room.SeatView
	for _, x := range s.Room.View().Seats {
		if x.Kind != policy.Human && x.Phase != string(room.Removed) {
			out = append(out, x)
		}
	}
	return out
}

// help lists the commands.
func help() string {
	var b strings.Builder
	for _, v := range verbs() {
		fmt.Fprintf(&b, "  %-30s %s\n", strings.TrimSpace(v.name+" "+v.args), v.help)
	}
	return b.String()
}

func (s *Session) say(text string) (room.Act, error) {
	if strings.TrimSpace(text) == "" {
		return nil, usage("nothing to say", "say TEXT")
	}
	return room.Say{Text: text, As: s.mine()}, nil
}

// mine returns the seat that has the floor and that the person has taken over.
func (s *Session) mine() string {
	for _, x := range s.Room.View().Seats {
		if x.Phase == "thinking" && s.taken[x.ID] {
			return x.ID
		}
	}
	return ""
}

func sayTo(s *Session, rest string) (room.Act, error) {
	who, text, err := s.whoAndText(rest, "to WHO TEXT")
	return room.Say{Text: text, To: who}, err
}

func sayAs(s *Session, rest string) (room.Act, error) {
	who, text, err := s.whoAndText(rest, "as WHO TEXT")
	return room.Say{Text: text, As: who}, err
}

// whoAndText is who for commands that need a text.
func (s *Session) whoAndText(rest, syntax string) (who, text string, err error) {
	who, text, err = s.who(rest)
	if err == nil && text == "" {
		err = usage("nothing to say", syntax)
	}
	return who, text, err
}

// approve approves the draft that the person has seen. Its hash prevents approval
// of a text that has changed since.
func approve(s *Session, _ string) (room.Act, error) { return room.Approve{Draft: s.draft}, nil }

func edit(s *Session, text string) (room.Act, error) {
	if text == "" {
		return nil, usage("the new text is missing", "edit TEXT, or `reject` the draft")
	}
	return room.Edit{Draft: s.draft, Text: text}, nil
}

func reject(s *Session, reason string) (room.Act, error) {
	return room.Reject{Draft: s.draft, Reason: reason}, nil
}

func takeOver(s *Session, rest string) (room.Act, error) {
	who, _, err := s.who(rest)
	return room.TakeOver{Participant: who}, err
}

func release(s *Session, rest string) (room.Act, error) {
	if rest == "" && len(s.taken) == 1 {
		for id := range s.taken {
			return room.Release{Participant: id}, nil
		}
	}
	who, _, err := s.who(rest)
	return room.Release{Participant: who}, err
}

func next(s *Session, rest string) (room.Act, error) {
	who, _, err := s.who(rest)
	return room.Next{Participant: who}, err
}

func mode(to room.Mode) func(*Session, string) (room.Act, error) {
	return func(s *Session, rest string) (room.Act, error) {
		who, _, err := s.who(rest)
		return room.SetMode{Participant: who, Mode: to}, err
	}
}

func standing(to room.Standing) func(*Session, string) (room.Act, error) {
	return func(s *Session, rest string) (room.Act, error) {
		who, reason, err := s.who(rest)
		return room.SetStanding{Participant: who, Standing: to, Reason: reason}, err
	}
}

func redact(_ *Session, rest string) (room.Act, error) {
	number, reason, _ := strings.Cut(rest, " ")
	seq, err := strconv.ParseInt(strings.TrimPrefix(number, "#"), 10, 64)
	if err != nil || seq < 1 {
		return nil, usage("which event?", "redact EVENT, the number of an event; `moot show ROOM` lists them")
	}
	return room.Redact{Target: seq, Reason: reason}, nil
}

func changePolicy(s *Session, name string) (room.Act, error) {
	if s.Policy == nil || name == "" {
		return nil, usage("which policy?", "policy NAME; `moot policy ls` lists them")
	}
	ref, err := s.Policy(name)
	return room.SetPolicy{Policy: ref}, err
}

// limits changes the named limits and keeps the others.
func limits(s *Session, rest string) (room.Act, error) {
	l := s.Room.View().Limits
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return nil, usage("which limit?", "limits maxTurns=60 maxDuration=1h")
	}
	for _, f := range fields {
		if err := config.SetLimit(&l, f); err != nil {
			return nil, err
		}
	}
	return room.SetLimits{Limits: l}, nil
}
