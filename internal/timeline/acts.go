package timeline

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/room"
)

func (s *Session) say(text string) (room.Act, error) {
	if strings.TrimSpace(text) == "" {
		return nil, usage("nothing to say", "say TEXT")
	}
	say := room.Say{Text: text}
	if own := s.mine(); own != "" {
		say.As = own
	}
	return say, nil
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
		name, value, _ := strings.Cut(f, "=")
		if err := setLimit(&l, name, value); err != nil {
			return nil, err
		}
	}
	return room.SetLimits{Limits: l}, nil
}

func setLimit(l *room.Limits, name, value string) error {
	var err error
	n := 0
	if name == "maxDuration" {
		l.MaxDuration, err = time.ParseDuration(value)
		n = int(l.MaxDuration)
	} else {
		n, err = strconv.Atoi(value)
	}
	if err != nil || n <= 0 {
		return usage(fmt.Sprintf("%q is not a value for a limit", term.Line(name+"="+value)), "write a number above 0, a duration for maxDuration: limits maxTurns=60 maxDuration=1h")
	}
	switch name {
	case "maxDuration":
	case "maxTurns":
		l.MaxTurns = n
	case "maxTokens":
		l.MaxTokens = int64(n)
	case "maxFailures":
		l.MaxFailures = n
	case "maxDeclines":
		l.MaxDeclines = n
	default:
		return usage("there is no limit "+strconv.Quote(term.Line(name))+" to change here", "the limits are maxTurns, maxDuration, maxTokens, maxFailures and maxDeclines")
	}
	return nil
}
