// Package rows is what the engines that keep events in tables share: the columns of an
// event, the check of what was read, and what wakes those that follow a room.
package rows

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// Proof is the column of that name: hash | salt (48 bytes). Of a redacted entry it is
// hash | commitment | sum of the stub (72): stub is what is in the place of its body,
// and the chain does not vouch for it.
func Proof(e *log.Entry, stub []byte) []byte {
	b := append(make([]byte, 0, redactedProof), e.Hash[:]...)
	if !e.Redacted {
		return append(b, e.Salt...)
	}
	sum := sha256.Sum256(stub)
	return append(append(b, e.Commit[:]...), sum[:stubSum]...)
}

// Lengths in bytes of a proof and of the sum in it.
const (
	stubSum       = 8
	wholeProof    = 32 + log.SaltSize
	redactedProof = 32 + 32 + stubSum
)

// Split takes a proof apart into e. The commitment of an entry that is not redacted is
// left to [Verified].
func Split(b, raw []byte, e *log.Entry) error {
	switch len(b) {
	case wholeProof:
		e.Salt = b[32:]
	case redactedProof:
		e.Redacted, e.Commit = true, [32]byte(b[32:])
		if sum := sha256.Sum256(raw); string(sum[:stubSum]) != string(b[64:]) {
			return errors.New("what was left of it has changed")
		}
	default:
		return fmt.Errorf("its proof is %d bytes long", len(b))
	}
	e.Hash = [32]byte(b)
	return nil
}

// Raw returns the column raw: the event or, if it is redacted, its stub.
func Raw(e *log.Entry) ([]byte, error) {
	switch {
	case !e.Redacted:
		return e.Raw, nil
	case e.Event.Body == nil:
		return nil, errors.New("it was redacted and no stub is left of it")
	}
	return room.MarshalEvent(e.Event)
}

// Same reports whether a stored entry is the one of a retry. Of a redacted entry
// only the id can be compared.
func Same(stored, retried *log.Entry) bool {
	return stored.Seq == retried.Seq && stored.Event.ID == retried.Event.ID &&
		(stored.Redacted || bytes.Equal(stored.Raw, retried.Raw))
}

// SnapshotSum is the checksum of a snapshot.
func SnapshotSum(s *log.Snapshot) [32]byte {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64(nil, s.Seq))
	h.Write(s.Hash[:])
	h.Write(s.Data)
	return [32]byte(h.Sum(nil))
}

// Nanos is t as a database keeps it: 0 for the zero time, and clamped to
// what 64 bits of nanoseconds hold.
func Nanos(t time.Time) int64 {
	switch {
	case t.IsZero():
		return 0
	case t.Year() >= 2262:
		return math.MaxInt64
	case t.Year() <= 1970:
		return 1
	}
	return t.UnixNano()
}

// Time is the time of which n is the [Nanos].
func Time(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
