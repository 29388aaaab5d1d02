package identity

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// A KeyRecord states which X25519 key a device uses for sessions, and until
// when. The device signs it, so the key can be replaced without a new pairing.
type KeyRecord struct {
	ID       DeviceID
	NK       [32]byte  // X25519, public
	NotAfter time.Time // whole seconds
	Sig      [ed25519.SignatureSize]byte
}

// RecordSize is the size of an encoded KeyRecord in bytes.
const RecordSize = 1 + 32 + 32 + 8 + ed25519.SignatureSize

var base64url = base64.RawURLEncoding.Strict()

const (
	recordVersion = 1
	recordContext = "moot-key-record/1\x00"
)

// Errors of key records.
var (
	ErrRecord        = errors.New("not a valid key record")
	ErrRecordExpired = errors.New("the key record has expired")
)

func recordText(nk [32]byte, notAfter time.Time) []byte {
	b := append([]byte(recordContext), nk[:]...)
	return binary.BigEndian.AppendUint64(b, uint64(notAfter.Unix()))
}

// Check verifies the signature and that the record has not expired at now, by
// the clock of the reader.
func (r KeyRecord) Check(now time.Time) error {
	if !ed25519.Verify(r.ID[:], recordText(r.NK, r.NotAfter), r.Sig[:]) {
		return fmt.Errorf("%w: the signature is wrong", ErrRecord)
	}
	if now.After(r.NotAfter) {
		return ErrRecordExpired
	}
	return nil
}

// Encode returns the encoding of r, RecordSize bytes.
func (r KeyRecord) Encode() []byte {
	b := make([]byte, 0, RecordSize)
	b = append(b, recordVersion)
	b = append(b, r.ID[:]...)
	b = append(b, r.NK[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.NotAfter.Unix()))
	return append(b, r.Sig[:]...)
}

// DecodeRecord decodes the form of Encode. It does not verify the signature.
func DecodeRecord(b []byte) (KeyRecord, error) {
	if len(b) != RecordSize || b[0] != recordVersion {
		return KeyRecord{}, fmt.Errorf("%w: %d bytes", ErrRecord, len(b))
	}
	end := binary.BigEndian.Uint64(b[65:])
	if end > 1<<40 { // the year 36812
		return KeyRecord{}, fmt.Errorf("%w: its expiry is out of range", ErrRecord)
	}
	return KeyRecord{
		ID: DeviceID(b[1:33]), NK: [32]byte(b[33:65]),
		NotAfter: time.Unix(int64(end), 0).UTC(), Sig: [64]byte(b[73:]),
	}, nil
}

// MarshalText returns the record in base64url.
func (r KeyRecord) MarshalText() ([]byte, error) {
	return []byte(base64url.EncodeToString(r.Encode())), nil
}

// UnmarshalText decodes the form of MarshalText.
func (r *KeyRecord) UnmarshalText(text []byte) error {
	if len(text) != base64url.EncodedLen(RecordSize) {
		return fmt.Errorf("%w: %d characters", ErrRecord, len(text))
	}
	b, err := base64url.DecodeString(string(text))
	if err != nil {
		return fmt.Errorf("%w: %v", ErrRecord, err)
	}
	*r, err = DecodeRecord(b)
	return err
}
