package room

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
)

// decideDraft approves, edits or rejects the draft that waits. An approval
// names the hash of the text, so that it cannot approve another text.
func (s *State) decideDraft(c Command, now Now) ([]Body, error) {
	var hash string
	switch do := c.Do.(type) {
	case Approve:
		hash = do.Draft
	case Edit:
		hash = do.Draft
	case Reject:
		hash = do.Draft
	}
	if err := s.checkDraft(c.Actor, hash); err != nil {
		return nil, err
	}
	switch do := c.Do.(type) {
	case Approve:
		return s.approve(do.Draft, now)
	case Edit:
		return s.edit(do, now)
	case Reject:
		return s.withLimits(now, TurnRejected{Turn: s.Turn.Number, Draft: do.Draft, Reason: cleanReason(do.Reason)}), nil
	}
	return nil, nil
}

// checkDraft checks that actor may review the draft with that hash, and that it
// waits. A draft that was answered before is reported as such, also after the room
// has ended.
func (s *State) checkDraft(actor, hash string) error {
	waits := s.Turn != nil && s.Turn.Draft != nil
	if waits && hash == s.Turn.Draft.Hash {
		return s.checkControl(actor, "review drafts")
	}
	if a := s.answer(hash); a != nil && s.control(actor) {
		return a.problem("draft")
	}
	if err := s.checkControl(actor, "review drafts"); err != nil {
		return err
	}
	if !waits {
		return invalidError("ROOM-DRAFT", "no draft is waiting", "")
	}
	return invalidError("ROOM-DRAFT", "draft "+quote(hash)+" is not the one that waits", "look at the draft again: it is "+s.Turn.Draft.Hash)
}

func (s *State) approve(hash string, now Now) ([]Body, error) {
	if s.Phase != PhaseLive {
		return nil, invalidError("ROOM-PAUSED", "the room is "+string(s.Phase)+", nothing is sent", "resume it first")
	}
	d := s.Turn.Draft
	if draftHash(s.Turn.Request, d.Message.Text) != hash {
		return nil, invalidError("ROOM-DRAFT", "the text of draft "+quote(hash)+" was redacted", "reject the draft, or edit it and approve the new text")
	}
	posted := MessagePosted{Turn: s.Turn.Number, Message: s.completeMessage(d.Message, s.Turn.Number, now), Usage: d.Usage, Latency: d.Latency}
	return append([]Body{TurnApproved{Turn: s.Turn.Number, Draft: hash}}, s.withLimits(now, posted)...), nil
}

func (s *State) edit(do Edit, now Now) ([]Body, error) {
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
	switch x.ModeNow() {
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

// maxAnswers is the number of answers that a room remembers.
const maxAnswers = 64

// An Answer is the answer to a draft or a permission request. A room remembers the
// newest ones, to tell the next person who was first.
type Answer struct {
	Of   string    `json:"of"`   // hash of the draft, or id of the request
	What string    `json:"what"` // approved, edited, rejected, allowed, denied, or why there is none
	By   string    `json:"by"`   // actor of the event
	Via  string    `json:"via,omitempty"`
	At   time.Time `json:"at"`

	Question bool `json:"question,omitempty"` // Of is a question that an agent put
}

// addAnswer records that e answers the draft or request with that id.
func (s *State) addAnswer(e Event, id, what string) {
	from := max(0, len(s.Answers)+1-maxAnswers)
	s.Answers = append(s.Answers[from:len(s.Answers):len(s.Answers)], Answer{Of: id, What: what, By: e.Actor, Via: e.Via, At: e.At})
}

// answer returns the newest answer to the draft or request with that id, or nil.
func (s *State) answer(id string) *Answer {
	for i := len(s.Answers) - 1; i >= 0; i-- {
		if s.Answers[i].Of == id {
			return &s.Answers[i]
		}
	}
	return nil
}

// problem returns the error for an answer that comes after a.
func (a *Answer) problem(what string) error {
	if a.Question {
		what = "question"
	}
	text := what + " " + quote(a.Of) + " was " + a.What
	if a.By != ActorRoom {
		text += " by " + a.By
	}
	if a.Via != "" {
		text += " (" + a.Via + ")"
	}
	return &problem.Error{
		Code: "ROOM-ANSWERED", What: text + " at " + a.At.UTC().Format(time.DateTime) + " UTC, and this answer changes nothing",
		Fix: "`moot inbox` lists what still waits", Kind: ErrAnswered,
	}
}

// rejection describes the end of a draft for the person who answers after it.
func rejection(e Event) string {
	if e.Actor == ActorRoom {
		return "not sent because no person answered in time"
	}
	return "rejected"
}

// outcome describes the answer for the person who answers after it.
func (b PermissionAnswered) outcome() string {
	switch {
	case b.Values != nil:
		return "filled in"
	case b.Allowed && b.Always:
		return "allowed for good"
	case b.Allowed:
		return "allowed"
	case b.By == endpoint.NoAnswer:
		return "refused because no person answered in time"
	case b.By == endpoint.Cancelled:
		return "cancelled with its turn"
	case b.By == endpoint.Unasked:
		return "refused"
	}
	return "denied"
}
