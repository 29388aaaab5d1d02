package identity

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// RecordLife is how long a new X25519 key is good for.
const RecordLife = 400 * 24 * time.Hour

// A Device holds the private keys of this device. It is immutable but for
// Rotate, which its owner calls before anybody else uses it.
type Device struct {
	sign     ed25519.PrivateKey
	noise    *ecdh.PrivateKey
	previous *ecdh.PrivateKey // what peers that have not heard of noise still know; may be nil
	notAfter time.Time
}

// Generate makes a device with new keys; the record is good for RecordLife
// from now.
func Generate(now time.Time) (*Device, error) {
	_, sign, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generating a device key: %w", err)
	}
	d := &Device{sign: sign}
	return d, d.Rotate(now)
}

// Rotate replaces the X25519 key. The one before is kept, because peers learn
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

// ID returns the device's name.
func (d *Device) ID() DeviceID { return DeviceID(d.sign.Public().(ed25519.PublicKey)) }

// Record returns the signed record of the present X25519 key.
func (d *Device) Record() KeyRecord {
	r := KeyRecord{ID: d.ID(), NK: [32]byte(d.noise.PublicKey().Bytes()), NotAfter: d.notAfter}
	copy(r.Sig[:], ed25519.Sign(d.sign, recordText(r.NK, r.NotAfter)))
	return r
}

// Static returns the private X25519 key whose public half is nk: the present
// one or the one before it.
func (d *Device) Static(nk [32]byte) (*ecdh.PrivateKey, bool) {
	for _, k := range []*ecdh.PrivateKey{d.noise, d.previous} {
		if k != nil && [32]byte(k.PublicKey().Bytes()) == nk {
			return k, true
		}
	}
	return nil, false
}

// SignLogin answers the challenge of the relay at host (as in its URL, with
// the port when one is written there).
func (d *Device) SignLogin(host string, challenge [32]byte, exporter []byte) [ed25519.SignatureSize]byte {
	return [64]byte(ed25519.Sign(d.sign, frame.LoginMessage(host, challenge[:], exporter)))
}

// VerifyLogin says whether sig is id's answer to challenge at host.
func VerifyLogin(id DeviceID, host string, challenge [32]byte, exporter []byte, sig [ed25519.SignatureSize]byte) bool {
	return ed25519.Verify(id[:], frame.LoginMessage(host, challenge[:], exporter), sig[:])
}
