package room

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/folkmoot/moot/policies/policy"
)

// CompleteRecord returns the record of one decision. run says how the policy ran;
// CompleteRecord sets all other fields and is their only author. in is the input
// at cursor c when the log ended at through; d and err are the policy's answer.
func (c PolicyCursor) CompleteRecord(run policy.Record, in *policy.Input, through int64, d policy.Decision, err error) policy.Record {
	r := run
	r.Policy, r.Digest = c.Ref.Name, c.Ref.Digest
	r.Decision, r.Seed, r.AskedAtMS, r.Through = in.Decision, in.Seed, in.NowMS, through
	r.State, r.StateJSON = "", nil
	r.Code, r.Error, r.Fix = "", "", ""
	if err != nil {
		r.Code, r.Fix = codeOf(err), fixOf(err)
		r.Error = strings.TrimSuffix(err.Error(), " ["+r.Code+"]")
		return r
	}
	r.StateJSON = NextPolicyState(in.State, d.State)
	r.State = PolicyStateDigest(r.StateJSON)
	return r
}

// NextPolicyState returns a policy's state after a decision that returned the
// state next: none keeps the state before, and null clears it.
func NextPolicyState(before, next policy.JSON) policy.JSON {
	switch {
	case next == nil:
		return before
	case string(next) == "null":
		return nil
	}
	return next
}

// PolicyStateDigest returns the SHA-256 of a policy's state in hex, and "" for
// no state or null.
func PolicyStateDigest(state policy.JSON) string {
	if state == nil || string(state) == "null" {
		return ""
	}
	sum := sha256.Sum256(state)
	return hex.EncodeToString(sum[:])
}

// codeOf returns the stable code of an error.
func codeOf(err error) string {
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		return coded.ErrorCode()
	}
	return "policy.failed"
}

// fixOf returns what a person can do about an error, or "".
func fixOf(err error) string {
	var fixed interface{ ErrorFix() string }
	if errors.As(err, &fixed) {
		return fixed.ErrorFix()
	}
	return ""
}

// RecordOf returns the record of the decision that e holds, or nil.
func RecordOf(e Event) *policy.Record {
	switch b := e.Body.(type) {
	case RoundDeclined:
		return &b.Record
	case TurnGranted:
		return b.Record
	case Completed:
		return b.Record
	case Paused:
		return b.Record
	}
	return nil
}

// RecordedInput returns the input of the decision that r records. s must be the
// fold of all events before the one that holds r.
func (s *State) RecordedInput(r *policy.Record, text TextFunc) (policy.Input, error) {
	return s.Input(s.Policy, time.Duration(r.AskedAtMS)*time.Millisecond, text)
}
