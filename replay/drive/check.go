package drive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/explore"
)

// A Loader returns the policy that a room ran with. Its error names what is
// missing.
type Loader func(ctx context.Context, ref room.PolicyRef) (Proposer, error)

// CheckVersion is the version of the JSON form of [Checked]. Fields are added,
// never renamed.
const CheckVersion = 1

// Checked says whether the policies of rooms decide again as they did.
type Checked struct {
	Version int           `json:"moot_replay_check"`
	OK      bool          `json:"ok"`
	Rooms   []CheckedRoom `json:"rooms"`
}

// A CheckedRoom counts the recorded decisions of a room, and those that came
// out the same, byte for byte and with the same fuel, before the first that did
// not.
type CheckedRoom struct {
	Room       string      `json:"room"`
	Decisions  int         `json:"decisions"`
	Reproduced int         `json:"reproduced"`
	Withheld   int         `json:"withheld,omitempty"`      // not repeatable: part of their input was redacted later
	ByTime     int         `json:"ended_by_time,omitempty"` // not repeatable: the processor's time ended them
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

// ErrNotRecorded reports a transcript without recorded decisions: a
// conversation of another program.
var ErrNotRecorded = errors.New("replay: not a room of moot")

// Check repeats all recorded decisions of rooms, with the policies that load
// returns and the inputs that the logs give.
func Check(ctx context.Context, load Loader, transcripts iter.Seq2[history.Transcript, error]) (*Checked, error) {
	c := &Checked{Version: CheckVersion, OK: true}
	for t, err := range transcripts {
		if err != nil {
			return nil, err
		}
		h, err := history.Open(t)
		if err != nil {
			return nil, err
		}
		if h == nil || h.Conversation() {
			return nil, fmt.Errorf("checking %s: %w", t.Name, ErrNotRecorded)
		}
		r, err := checkRoom(ctx, h, load)
		if err != nil {
			return nil, fmt.Errorf("checking %s: %w", t.Name, err)
		}
		c.OK = c.OK && r.First == nil
		c.Rooms = append(c.Rooms, r)
	}
	return c, nil
}

// checkRoom repeats decisions up to the first difference, and counts the rest.
func checkRoom(ctx context.Context, h *history.History, load Loader) (CheckedRoom, error) {
	r := CheckedRoom{Room: h.Name}
	p := history.NewPoint(h, 0)
	for e, err := range h.Events() {
		if err != nil {
			return r, err
		}
		record := room.RecordOf(e)
		if record == nil {
			p.Apply(&e)
			continue
		}
		r.Decisions++
		var state policy.JSON
		if r.First == nil {
			if state, r.First, err = repeatRecorded(ctx, p, load, &e, record); err != nil {
				return r, err
			}
			if err := r.count(h, e.Seq, record); err != nil {
				return r, err
			}
		}
		p.Apply(&e)
		if p.State.Policy.Lost {
			p.State.SetPolicyState(state)
		}
	}
	return r, nil
}

// count counts the decision at seq. A difference of the input is forgiven when
// a text before it was redacted: the input cannot be rebuilt then.
func (r *CheckedRoom) count(h *history.History, seq int64, record *policy.Record) error {
	switch {
	case r.First == nil && record.EndedByTime:
		r.ByTime++
		return nil
	case r.First == nil:
		r.Reproduced++
		return nil
	}
	if r.First.What != "input" {
		return nil
	}
	redacted, err := h.FirstRedacted()
	if err == nil && seq > redacted {
		r.First = nil
		r.Withheld++
	}
	return err
}

// repeatRecorded repeats one recorded decision. It returns the state of the
// policy after it. Of a decision that ended by time it compares the input only.
func repeatRecorded(ctx context.Context, p *history.Point, load Loader, e *room.Event, record *policy.Record) (policy.JSON, *Difference, error) {
	s := p.State
	d := Difference{Decision: record.Decision, Seq: e.Seq, Policy: record.Policy}
	in, err := s.RecordedInput(record, p.Text)
	if err != nil {
		return nil, nil, err
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(in.AppendJSON(nil))); got != record.Input {
		return nil, d.with("input", record.Input, got), nil
	}
	if record.EndedByTime {
		return in.State, nil, nil
	}
	proposer, err := load(ctx, s.Policy.Ref)
	if err != nil {
		return nil, nil, err
	}
	decision, repeated, err := proposer.Propose(ctx, in)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if code := codeOf(err); code != record.Code {
		return nil, d.with("error", cmp.Or(record.Code, "none"), cmp.Or(code, "none")), nil
	}
	if err != nil {
		return in.State, nil, nil // the same failure as recorded
	}
	state := room.NextPolicyState(in.State, decision.State)
	was, is := recordedFields(s, e, record), repeatedFields(s, decision, state, record, repeated.Fuel)
	for i := range was {
		uncounted := was[i].name == "fuel" && (record.Fuel == 0 || record.Meter != repeated.Meter)
		if was[i].text != is[i].text && !uncounted {
			return nil, d.with(was[i].name, was[i].text, is[i].text), nil
		}
	}
	return state, nil, nil
}

func (d Difference) with(what, recorded, replayed string) *Difference {
	d.What, d.Recorded, d.Replayed = what, recorded, replayed
	return &d
}

// A field is one part of a decision, as text that can be compared.
type field struct{ name, text string }

// recordedFields are the fields of a decision in the log.
func recordedFields(s *room.State, e *room.Event, record *policy.Record) []field {
	d := policy.Decision{}
	switch b := e.Body.(type) {
	case room.TurnGranted:
		d = policy.Decision{
			Action: policy.ActionSpeak, Agent: b.Participant, Reason: b.Reason, Confidence: b.Confidence,
			Hints: b.Hints, Scores: b.Scores,
		}
		return append(fields(s, d, record.State, record.Fuel), explored(b.Exploration)...)
	case room.RoundDeclined:
		d = policy.Decision{Action: policy.ActionDecline, Reason: b.Reason, RetryMS: b.Retry.Milliseconds()}
	case room.Completed:
		d = policy.Decision{Action: policy.ActionFinish, Reason: b.Reason}
	}
	return append(fields(s, d, record.State, record.Fuel), explored(nil)...)
}

// repeatedFields are the fields that the log would have for d.
func repeatedFields(s *room.State, d policy.Decision, state policy.JSON, record *policy.Record, fuel uint64) []field {
	d.State = nil
	if d.Action != policy.ActionSpeak {
		d.Agent, d.Confidence, d.Hints, d.Scores = "", nil, nil, nil
	}
	d, exploration := s.Explore(d, record)
	return append(fields(s, d, room.PolicyStateDigest(state), fuel), explored(exploration)...)
}

// explored are the fields of a room that explores.
func explored(c *explore.Choice) []field {
	if c == nil {
		c = &explore.Choice{}
	}
	return []field{
		{"choice", c.Choice},
		{"kept", c.Kept},
		{"explored", strconv.FormatBool(c.Explored)},
		{"propensity", strconv.FormatFloat(c.Propensity, 'g', -1, 64)},
	}
}

// fields lists the parts of d. A missing reason or delay has the default that
// the room records.
func fields(s *room.State, d policy.Decision, state string, fuel uint64) []field {
	retry := ""
	if d.Action == policy.ActionDecline {
		d.Reason = cmp.Or(d.Reason, "no decision")
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
