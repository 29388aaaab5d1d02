package identity

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/nacl/secretbox"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/problem"
)

// Argon2id parameters: about 0.25 s on a small machine (RFC 9106). The maxima
// limit the cost of opening a file from another source.
const (
	kdfTime, maxKDFTime     = 3, 16
	kdfMemory, maxKDFMemory = 64 << 10, 1 << 20 // KiB
	kdfThreads              = 4
)

// ErrPassphrase reports a missing or wrong passphrase.
var ErrPassphrase = errors.New("the passphrase is wrong or missing")

// keyFile is the file format: either Keys or Sealed is set.
type keyFile struct {
	V      int         `json:"v"`
	Keys   *deviceKeys `json:"keys,omitempty"`
	Sealed *sealedKeys `json:"sealed,omitempty"`
}

type deviceKeys struct {
	IDK      []byte `json:"idk"`                   // Ed25519 seed
	NK       []byte `json:"nk"`                    // X25519
	Previous []byte `json:"nk_previous,omitempty"` // X25519
	NotAfter int64  `json:"not_after"`             // of NK, Unix seconds
}

type sealedKeys struct {
	KDF     string `json:"kdf"` // argon2id
	Time    uint32 `json:"time"`
	Memory  uint32 `json:"memory_kib"`
	Threads uint8  `json:"threads"`
	Salt    []byte `json:"salt"`
	Nonce   []byte `json:"nonce"`
	Box     []byte `json:"box"` // NaCl secretbox of deviceKeys as JSON
}

// Load reads the key file. It refuses a file that others may access with code
// RELAY-FILE-MODE. Errors satisfy errors.Is with ErrPassphrase if a passphrase
// is missing or wrong, and with fs.ErrNotExist if there is no file.
func Load(path string, passphrase []byte) (*Device, error) {
	b, _, err := readPrivate(path)
	if err != nil {
		return nil, err
	}
	d, err := decodeKeyFile(b, passphrase)
	switch {
	case errors.Is(err, ErrPassphrase):
		return nil, &problem.Error{Code: "RELAY-PASSPHRASE", What: "the key file is sealed with a passphrase, and the given one is wrong", Where: path, Fix: "give the right one; without it the device's peers have to be paired again", Kind: ErrPassphrase, Err: err}
	case err != nil:
		return nil, &problem.Error{Code: "RELAY-FILE", What: "the key file is damaged: " + err.Error(), Where: path, Fix: "restore it from a backup, or remove it and pair the devices again", Err: err}
	}
	return d, nil
}

// Save writes the key file atomically with mode 0600. With an empty passphrase
// the keys are stored unencrypted.
func Save(path string, d *Device, passphrase []byte) error {
	b, err := encodeKeyFile(d, passphrase)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteDurable(path, b); err != nil {
		return &problem.Error{Code: "RELAY-FILE", What: "the key file cannot be written: " + err.Error(), Where: path, Fix: "free disk space, or make its folder writable", Err: err}
	}
	return nil
}

// LoadOrGenerate loads the key file, or generates a device and saves it. It
// replaces a session key that expires within a twelfth of its life, so that
// peers learn of the next one in time. Processes that start concurrently get
// the same keys.
func LoadOrGenerate(path string, passphrase []byte, now time.Time) (*Device, error) {
	d, err := Load(path, passphrase)
	if err == nil && now.Before(d.notAfter.Add(-RecordLife/12)) {
		return d, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return rotateOrGenerate(path, passphrase, now)
}

// rotateOrGenerate generates or rotates under a lock.
func rotateOrGenerate(path string, passphrase []byte, now time.Time) (*Device, error) {
	unlock, err := lock(path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	d, err := Load(path, passphrase)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d, err = Generate(now)
	case err == nil && !now.Before(d.notAfter.Add(-RecordLife/12)):
		err = d.Rotate(now)
	case err == nil:
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	return d, Save(path, d, passphrase)
}

// Reseal stores the keys under another passphrase; an empty one stores them
// unencrypted.
func Reseal(path string, passphrase, next []byte) error {
	return change(path, passphrase, next, func(*Device) error { return nil })
}

// RotateFile gives the device in a key file a new session key. The device key
// stays and signs the record of the new one, so peers follow by themselves.
func RotateFile(path string, passphrase []byte, now time.Time) error {
	return change(path, passphrase, passphrase, func(d *Device) error { return d.Rotate(now) })
}

// change changes a key file under its lock.
func change(path string, passphrase, next []byte, edit func(*Device) error) error {
	unlock, err := lock(path)
	if err != nil {
		return err
	}
	defer unlock()
	d, err := Load(path, passphrase)
	if err != nil {
		return err
	}
	if err := edit(d); err != nil {
		return err
	}
	return Save(path, d, next)
}

func encodeKeyFile(d *Device, passphrase []byte) ([]byte, error) {
	keys := deviceKeys{IDK: d.sign.Seed(), NK: d.noise.Bytes(), NotAfter: d.notAfter.Unix()}
	if d.previous != nil {
		keys.Previous = d.previous.Bytes()
	}
	file := keyFile{V: 1, Keys: &keys}
	if len(passphrase) > 0 {
		inner, err := json.Marshal(keys)
		if err != nil {
			return nil, err
		}
		file = keyFile{V: 1, Sealed: seal(inner, passphrase)}
	}
	b, err := json.MarshalIndent(file, "", " ")
	return append(b, '\n'), err
}

func seal(keys, passphrase []byte) *sealedKeys {
	s := &sealedKeys{KDF: "argon2id", Time: kdfTime, Memory: kdfMemory, Threads: kdfThreads, Salt: make([]byte, 16), Nonce: make([]byte, 24)}
	_, _ = rand.Read(s.Salt) // never fails
	_, _ = rand.Read(s.Nonce)
	s.Box = secretbox.Seal(nil, keys, (*[24]byte)(s.Nonce), s.key(passphrase))
	return s
}

func (s *sealedKeys) key(passphrase []byte) *[32]byte {
	return (*[32]byte)(argon2.IDKey(passphrase, s.Salt, s.Time, s.Memory, s.Threads, 32))
}

func (s *sealedKeys) open(passphrase []byte) ([]byte, error) {
	switch {
	case s.KDF != "argon2id" || s.Time < 1 || s.Time > maxKDFTime || s.Memory < 1 || s.Memory > maxKDFMemory || s.Threads < 1:
		return nil, errors.New("its key derivation is unknown or out of bounds")
	case len(s.Salt) != 16 || len(s.Nonce) != 24:
		return nil, errors.New("its salt or nonce has the wrong length")
	case len(passphrase) == 0:
		return nil, ErrPassphrase
	}
	keys, ok := secretbox.Open(nil, s.Box, (*[24]byte)(s.Nonce), s.key(passphrase))
	if !ok {
		return nil, ErrPassphrase
	}
	return keys, nil
}

func decodeKeyFile(b, passphrase []byte) (*Device, error) {
	var file keyFile
	if err := strict.Decode(b, 3, &file); err != nil {
		return nil, err
	}
	switch {
	case file.V != 1:
		return nil, fmt.Errorf("version %d is not supported", file.V)
	case (file.Keys == nil) == (file.Sealed == nil):
		return nil, errors.New("it holds no keys, or both kinds")
	case file.Sealed != nil:
		inner, err := file.Sealed.open(passphrase)
		if err != nil {
			return nil, err
		}
		file.Keys = &deviceKeys{}
		if err := strict.Decode(inner, 2, file.Keys); err != nil {
			return nil, err
		}
	}
	return file.Keys.device()
}

func (k *deviceKeys) device() (*Device, error) {
	if len(k.IDK) != ed25519.SeedSize {
		return nil, errors.New("the device key has the wrong length")
	}
	if k.NotAfter < 0 || k.NotAfter > 1<<40 {
		return nil, errors.New("not_after is out of range")
	}
	d := &Device{sign: ed25519.NewKeyFromSeed(k.IDK), notAfter: time.Unix(k.NotAfter, 0).UTC()}
	var err error
	if d.noise, err = ecdh.X25519().NewPrivateKey(k.NK); err != nil {
		return nil, fmt.Errorf("the session key: %w", err)
	}
	if len(k.Previous) > 0 {
		if d.previous, err = ecdh.X25519().NewPrivateKey(k.Previous); err != nil {
			return nil, fmt.Errorf("the previous session key: %w", err)
		}
	}
	return d, nil
}
