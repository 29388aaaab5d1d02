package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A Loader returns the policy that a room was run with. Its error names what
// is missing.
type Loader func(ctx context.Context, ref room.PolicyRef) (Policy, error)

// A Checked says whether the policies of the rooms decide again as they did.
type Checked struct {
	Version int           `json:"moot_replay_check"`
	OK      bool          `json:"ok"`
	Rooms   []CheckedRoom `json:"rooms"`
}

// A CheckedRoom is one room: how many decisions are recorded and how many
// came out the same, byte for byte and fuel for fuel, before the first that
// did not.
type CheckedRoom struct {
	Room       string      `json:"room"`
	Decisions  int         `json:"decisions"`
	Reproduced int         `json:"reproduced"`
	Withheld   int         `json:"withheld,omitempty"` // cannot be made again: what led to them has been redacted since
	First      *Difference `json:"first_difference,omitempty"`
}

// A Difference is where a decision differs from its record.
type Difference struct {
	Decision int64  `json:"decision"`
	Seq      int64  `json:"seq"` // of the event that holds the record
	Policy   string `json:"policy"`
	What     string `json:"what"` // input, error, action, agent, reason, ...
	Recorded string `json:"recorded"`
	Replayed string `json:"replayed"`
}

// ErrNotRecorded reports a transcript that holds no recorded decisions to
// check, because it is a talk from elsewhere.
var ErrNotRecorded = errors.New("replay: not a room of moot")

// Check asks the policies that ran again, with the inputs that the logs give.
func Check(ctx context.Context, load Loader, transcripts iter.Seq2[Transcript, error]) (*Checked, error) {
	c := &Checked{Version: ReportVersion, OK: true}
	for t, err := range transcripts {
		if err != nil {
			return nil, err
		}
		h, err := t.history()
		if err != nil {
			return nil, err
		}
		if h == nil || h.chat != nil {
			return nil, fmt.Errorf("checking %s: %w", t.Name, ErrNotRecorded)
		}
		r, err := h.check(ctx, load)
		if err != nil {
			return nil, fmt.Errorf("checking %s: %w", t.Name, err)
		}
		c.OK = c.OK && r.First == nil
		c.Rooms = append(c.Rooms, r)
	}
	return c, nil
}

// check folds the room and asks again at each recorded decision. After the
// first difference decisions are only counted.
func (h *history) check(ctx context.Context, load Loader) (CheckedRoom, error) {
	r := CheckedRoom{Room: h.name}
	p := newPoint(h, 0)
	for e, err := range h.events() {
		if err != nil {
			return r, err
		}
		rec := room.RecordOf(e)
		if rec == nil {
			p.apply(&e)
			continue
		}
		r.Decisions++
		var state policy.JSON
		if r.First == nil {
			if state, r.First, err = p.checked(ctx, load, &e, rec); err != nil {
				return r, err
			}
			if err := h.excuse(&r, e.Seq); err != nil {
				return r, err
			}
		}
		p.apply(&e)
		if p.state.Policy.Lost {
			p.state.SetPolicyState(state)
		}
	}
	return r, nil
}

// excuse takes a difference back that comes of a redaction: what led to the
// decision at seq cannot be asked again.
func (h *history) excuse(r *CheckedRoom, seq int64) error {
	if r.First == nil {
		r.Reproduced++
		return nil
	}
	if r.First.What != "input" {
		return nil
	}
	gone, err := h.redacted()
	if err == nil && seq > gone {
		r.First = nil
		r.Withheld++
	}
	return err
}

// redacted returns the place of the first event whose text has been redacted;
// from there on inputs may not be those that policies saw.
func (h *history) redacted() (int64, error) {
	if h.gone != 0 {
		return h.gone, nil
	}
	h.gone = math.MaxInt64
	for e, err := range h.events() {
		if err != nil {
			return 0, err
		}
		if b, ok := e.Body.(room.Redacted); ok {
			h.gone = min(h.gone, b.Target)
		}
	}
	return h.gone, nil
}

// checked makes one recorded decision once more. It returns the policy's state
// after it.
func (p *point) checked(ctx context.Context, load Loader, e *room.Event, rec *policy.Record) (policy.JSON, *Difference, error) {
	s := p.state
	d := Difference{Decision: rec.Decision, Seq: e.Seq, Policy: rec.Policy}
	in, err := s.RecordedInput(rec, p.tail.text)
	if err != nil {
		return nil, nil, err
	}
	if got := digest(in.AppendJSON(nil)); got != rec.Input {
		return nil, d.is("input", rec.Input, got), nil
	}
	policy, err := load(ctx, s.Policy.Ref)
	if err != nil {
		return nil, nil, err
	}
	made, rec2, err := policy.Propose(ctx, in)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if code := codeOf(err); code != rec.Code {
		return nil, d.is("error", orNone(rec.Code), orNone(code)), nil
	}
	if err != nil {
		return in.State, nil, nil // it failed then and fails now
	}
	state := nextState(in.State, made.State)
	was, is := recordedFields(s, e, rec), decidedFields(s, made, state, rec2.Fuel)
	for i := range was {
		if was[i].text != is[i].text && !(was[i].name == "fuel" && rec.Fuel == 0) {
			return nil, d.is(was[i].name, was[i].text, is[i].text), nil
		}
	}
	return state, nil, nil
}

func (d Difference) is(what, recorded, replayed string) *Difference {
	d.What, d.Recorded, d.Replayed = what, recorded, replayed
	return &d
}

// A field is one part of a decision, in a form that compares.
type field struct{ name, text string }

// recordedFields is what the log says of a decision.
func recordedFields(s *room.State, e *room.Event, rec *policy.Record) []field {
	d := policy.Decision{}
	switch b := e.Body.(type) {
	case room.TurnGranted:
		d = policy.Decision{
			Action: policy.ActionSpeak, Agent: b.Participant, Reason: b.Reason, Confidence: b.Confidence,
			Hints: b.Hints, Scores: b.Scores,
		}
	case room.RoundDeclined:
		d = policy.Decision{Action: policy.ActionDecline, Reason: b.Reason, RetryMS: b.Retry.Milliseconds()}
	case room.Completed:
		d = policy.Decision{Action: policy.ActionFinish, Reason: b.Reason}
	}
	return fields(s, d, rec.State, rec.Fuel)
}

// decidedFields is what the log would say of a decision made now.
func decidedFields(s *room.State, d policy.Decision, state policy.JSON, fuel uint64) []field {
	d.State = nil
	if d.Action != policy.ActionSpeak {
		d.Agent, d.Confidence, d.Hints, d.Scores = "", nil, nil, nil
	}
	return fields(s, d, stateDigest(state), fuel)
}

// fields lists the parts of d. What the room puts in for an answer without a
// reason or a delay is put in here too.
func fields(s *room.State, d policy.Decision, state string, fuel uint64) []field {
	retry := ""
	if d.Action == policy.ActionDecline {
		if d.Reason == "" {
			d.Reason = "no decision"
		}
		retry = s.Limits.Retry(d.RetryMS).String()
	}
	confidence := ""
	if d.Confidence != nil {
		confidence = strconv.FormatFloat(*d.Confidence, 'g', -1, 64)
	}
	return []field{
		{"action", d.Action},
		{"agent", d.Agent},
		{"reason", d.Reason},
		{"confidence", confidence},
		{"retry", retry},
		{"hints", string(d.Hints)},
		{"scores", fmt.Sprint(slices.Clip(d.Scores))},
		{"state", state},
		{"fuel", strconv.FormatUint(fuel, 10)},
	}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// stateDigest is empty for no state, as in records.
func stateDigest(state policy.JSON) string {
	if state == nil || string(state) == "null" {
		return ""
	}
	return digest(state)
}

func codeOf(err error) string {
	var coded interface{ ErrorCode() string }
	switch {
	case err == nil:
		return ""
	case errors.As(err, &coded):
		return coded.ErrorCode()
	}
	return "policy.failed"
}

func orNone(code string) string {
	if code == "" {
		return "none"
	}
	return code
}
