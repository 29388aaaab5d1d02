package log

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// SaltSize is the length of an event's salt in bytes. It is fixed, so that no
// byte can be moved between salt and body without changing the commitment.
const SaltSize = 16

// Commit returns H(salt | raw), the commitment to one event. With the salt
// removed, a guess of the body cannot be tested against it.
func Commit(salt, raw []byte) [32]byte {
	h := sha256.New()
	h.Write(salt)
	h.Write(raw)
	return [32]byte(h.Sum(nil))
}

// Link returns H(previous | seq | commit), the hash of the chain at seq. seq
// is hashed as eight bytes, big endian. The chain starts from 32 zero bytes.
func Link(previous [32]byte, seq uint64, commit [32]byte) [32]byte {
	var b [32 + 8 + 32]byte
	copy(b[:], previous[:])
	binary.BigEndian.PutUint64(b[32:], seq)
	copy(b[40:], commit[:])
	return sha256.Sum256(b[:])
}

// Digest returns the name of a blob: the SHA-256 of its content, hex.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Seal prepares events for storage directly after seq after: it fills in a
// Seq that is zero, encodes, salts and commits to each. Hash is left to the
// engine, which alone knows the tail. An event that says another place than
// its own is refused.
func Seal(after uint64, events []room.Event) ([]Entry, error) {
	salts := make([]byte, SaltSize*len(events))
	rand.Read(salts) // never fails; see crypto/rand
	entries := make([]Entry, len(events))
	for i, event := range events {
		seq := after + 1 + uint64(i)
		if event.Seq != 0 && event.Seq != int64(seq) {
			return nil, fmt.Errorf("event %q says place %d but is appended at %d", event.ID, event.Seq, seq)
		}
		event.Seq = int64(seq)
		raw, err := room.MarshalEvent(event)
		if err != nil {
			return nil, fmt.Errorf("encoding event %d: %w", seq, err)
		}
		salt := salts[i*SaltSize : (i+1)*SaltSize : (i+1)*SaltSize]
		entries[i] = Entry{
			Pos: Pos{Seq: seq}, Event: event, Raw: raw, Salt: salt, Commit: Commit(salt, raw),
		}
	}
	return entries, nil
}

// A CorruptError says where a log is not what was appended. It is an
// [ErrCorrupt]. Seq is zero when no single event is to blame.
type CorruptError struct {
	Room string // empty when the room is not known or not to blame
	Seq  uint64
	Why  string
}

// Error names the room, the event and the reason.
func (e *CorruptError) Error() string {
	switch {
	case e.Room == "":
		return "log is corrupt: " + e.Why
	case e.Seq == 0:
		return fmt.Sprintf("the log of room %s is corrupt: %s", e.Room, e.Why)
	}
	return fmt.Sprintf("the log of room %s is corrupt at event %d: %s", e.Room, e.Seq, e.Why)
}

// where names the place for a [problem.Error].
func (e *CorruptError) where() string {
	switch {
	case e.Room == "":
		return "data folder"
	case e.Seq == 0:
		return "room " + e.Room
	}
	return fmt.Sprintf("room %s, event %d", e.Room, e.Seq)
}

// Is makes errors.Is(err, ErrCorrupt) hold.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Short returns the error of a room whose log ends at event last although event
// head was stored. It is coded LOG-SHORT, and is an [ErrShort] and an [ErrCorrupt].
func Short(room string, last, head uint64) error {
	why := fmt.Sprintf("it ends at event %d, but event %d was stored", last, head)
	cause := &CorruptError{Room: room, Seq: last + 1, Why: why}
	other := "go on in a copy: `moot transcript fork " + room + " --until-damage`"
	if last == 0 {
		other = "give it up: `moot rm " + room + "`"
	}
	return &problem.Error{
		Code: "LOG-SHORT", Where: fmt.Sprintf("room %s, event %d", room, last+1), Kind: errors.Join(ErrShort, cause),
		What: fmt.Sprintf("room %s is paused: its log ends at event %d, but event %d was stored", room, last, head),
		Fix:  "stop moot, keep a copy of the data folder, and restore a backup; or " + other + "; other rooms are not affected",
	}
}

// Corrupt returns a [CorruptError] as a user should see it, coded LOG-CORRUPT.
func Corrupt(room string, seq uint64, why string) error {
	cause := &CorruptError{Room: room, Seq: seq, Why: why}
	fix := "stop moot, keep a copy of the data folder, and restore it from a backup"
	if room != "" && seq > 1 {
		fix += "; or go on in a copy: `moot transcript fork " + room + " --until-damage`"
	}
	if room != "" {
		fix += "; other rooms are not affected"
	}
	return &problem.Error{Code: "LOG-CORRUPT", What: cause.Error(), Err: cause, Where: cause.where(), Fix: fix}
}
