package identity

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/rand"
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

// VerifyLogin reports whether sig is the signature of id for this login.
func VerifyLogin(id DeviceID, host string, challenge [32]byte, exporter []byte, sig [ed25519.SignatureSize]byte) bool {
	return ed25519.Verify(id[:], frame.LoginMessage(host, challenge[:], exporter), sig[:])
}
