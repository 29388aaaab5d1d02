package room

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/folkmoot/moot/policies/policy"
)

// decideDraft approves, edits or rejects the draft that waits. An approval
// names the hash of the text, so that it cannot approve another text.
func (s *State) decideDraft(c Command, now Now) ([]Body, error) {
	if err := s.checkControl(c.Actor, "review drafts"); err != nil {
		return nil, err
	}
	if s.Turn == nil || s.Turn.Draft == nil {
		return nil, invalidError("ROOM-DRAFT", "no draft is waiting", "")
	}
	switch do := c.Do.(type) {
	case Approve:
		return s.approve(do.Draft, now)
	case Edit:
		return s.edit(do, now)
	case Reject:
		if err := s.isDraft(do.Draft); err != nil {
			return nil, err
		}
		return s.withLimits(now, TurnRejected{Turn: s.Turn.Number, Draft: do.Draft, Reason: cleanReason(do.Reason)}), nil
	}
	return nil, nil
}

func (s *State) isDraft(hash string) error {
	if hash != s.Turn.Draft.Hash {
		return invalidError("ROOM-DRAFT", "draft "+quote(hash)+" is not the one that waits", "look at the draft again: it is "+s.Turn.Draft.Hash)
	}
	return nil
}

func (s *State) approve(hash string, now Now) ([]Body, error) {
	if err := s.isDraft(hash); err != nil {
		return nil, err
	}
	if s.Phase != PhaseLive {
		return nil, invalidError("ROOM-PAUSED", "the room is "+string(s.Phase)+", nothing is sent", "resume it first")
	}
	d := s.Turn.Draft
	posted := MessagePosted{Turn: s.Turn.Number, Message: s.completeMessage(d.Message, s.Turn.Number, now), Usage: d.Usage, Latency: d.Latency}
	return append([]Body{TurnApproved{Turn: s.Turn.Number, Draft: hash}}, s.withLimits(now, posted)...), nil
}

func (s *State) edit(do Edit, now Now) ([]Body, error) {
	if err := s.isDraft(do.Draft); err != nil {
		return nil, err
	}
	do.Text = validUTF8(do.Text)
	if err := checkLength(do.Text); err != nil {
		return nil, err
	}
	t := s.Turn
	hash := draftHash(t.Request, do.Text)
	edited := TurnEdited{Turn: t.Number, Draft: hash, Text: do.Text}
	if !do.Approve {
		return []Body{edited}, nil
	}
	if s.Phase != PhaseLive {
		return nil, invalidError("ROOM-PAUSED", "the room is "+string(s.Phase)+", nothing is sent", "resume it first, or edit without approving")
	}
	m := t.Draft.Message
	m.Text = do.Text
	posted := MessagePosted{Turn: t.Number, Message: s.completeMessage(m, t.Number, now), Usage: t.Draft.Usage, Latency: t.Draft.Latency}
	return append([]Body{edited, TurnApproved{Turn: t.Number, Draft: hash}}, s.withLimits(now, posted)...), nil
}

// review returns the rule by which a person must see m before it is posted.
// A rule that cannot be applied counts as broken.
func (s *State) review(x *Seat, m Message) string {
	switch x.Mode {
	case FullAuto:
		return ""
	case SemiAuto:
		return s.triggered(x, m)
	}
	return "manual"
}

// triggered returns the first rule of x that picks m.
func (s *State) triggered(x *Seat, m Message) string {
	if why := x.Review.triggered(m); why != "" {
		return why
	}
	abroad, watched := s.otherOwner(x), len(s.Spec.Observers) > 0
	switch {
	case x.Review.Remote && abroad:
		return "another owner's agent takes part"
	case x.Review.Remote && watched:
		return "another owner may watch"
	case x.Review.FirstContact && (abroad || watched) && s.Counts[x.Index+1] == 0:
		return "first message to another owner"
	}
	return ""
}

// otherOwner reports whether what x says leaves its owner.
func (s *State) otherOwner(x *Seat) bool {
	for _, y := range s.Seats {
		if y.Standing != Removed && (y.Kind == policy.Remote || y.Participant.Owner != x.Participant.Owner) {
			return true
		}
	}
	return false
}

func (r Review) triggered(m Message) string {
	below := r.ConfidenceBelow
	setDefault(&below, 0.5)
	switch {
	case m.Confidence == nil:
		return "confidence unknown"
	case !(*m.Confidence >= below): // also true of NaN
		return "confidence below the threshold"
	case r.LongerThan > 0 && len([]rune(m.Text)) > r.LongerThan:
		return "longer than " + itoa(r.LongerThan) + " characters"
	}
	text := strings.ToLower(m.Text)
	for _, w := range r.Words {
		if strings.Contains(text, strings.ToLower(w)) {
			return "contains " + quote(w)
		}
	}
	for _, p := range r.Patterns {
		re, err := regexp.Compile(p)
		switch {
		case err != nil:
			return "pattern " + quote(p) + " cannot be applied"
		case re.MatchString(m.Text):
			return "matches " + quote(p)
		}
	}
	return ""
}

func draftHash(request, text string) string {
	sum := sha256.Sum256([]byte(request + "\x00" + text))
	return hex.EncodeToString(sum[:8])
}
