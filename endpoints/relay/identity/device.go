package identity

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// RecordLife is the validity of a new X25519 key.
const RecordLife = 400 * 24 * time.Hour

// A Device holds the private keys of this device. It is immutable except for
// Rotate, which the owner may call only while no other goroutine uses it.
type Device struct {
	sign     ed25519.PrivateKey
	noise    *ecdh.PrivateKey
	previous *ecdh.PrivateKey // the key before, which peers may still know; may be nil
	notAfter time.Time
}

// Generate returns a device with new keys. Its record is valid for RecordLife
// from now.
func Generate(now time.Time) (*Device, error) {
	_, sign, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generating a device key: %w", err)
	}
	d := &Device{sign: sign}
	return d, d.Rotate(now)
}

// Rotate replaces the X25519 key. The previous one is kept, because peers learn
// of the new one in their next session.
func (d *Device) Rotate(now time.Time) error {
	noise, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("generating a session key: %w", err)
	}
	d.previous, d.noise = d.noise, noise
	d.notAfter = now.Add(RecordLife).UTC().Truncate(time.Second)
	return nil
}

// ID returns the device's id.
func (d *Device) ID() DeviceID { return DeviceID(d.sign.Public().(ed25519.PublicKey)) }

// Record returns the signed record of the current X25519 key.
func (d *Device) Record() KeyRecord {
	r := KeyRecord{ID: d.ID(), NK: [32]byte(d.noise.PublicKey().Bytes()), NotAfter: d.notAfter}
	copy(r.Sig[:], ed25519.Sign(d.sign, recordText(r.NK, r.NotAfter)))
	return r
}

// Static returns the private X25519 key with the public key nk: the current or
// the previous one.
func (d *Device) Static(nk [32]byte) (*ecdh.PrivateKey, bool) {
	for _, k := range []*ecdh.PrivateKey{d.noise, d.previous} {
		if k != nil && [32]byte(k.PublicKey().Bytes()) == nk {
			return k, true
		}
	}
	return nil, false
}

// SignLogin signs the challenge of the relay at host, in the form of
// frame.Host. exporter is keying material of the TLS connection if the relay
// terminates TLS, and empty otherwise.
func (d *Device) SignLogin(host string, challenge [32]byte, exporter []byte) [ed25519.SignatureSize]byte {
	return [64]byte(ed25519.Sign(d.sign, frame.LoginMessage(host, challenge[:], exporter)))
}

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
