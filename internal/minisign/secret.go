package minisign

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/scrypt"
)

// A SecretKey signs.
type SecretKey struct {
	id  [8]byte
	key ed25519.PrivateKey
}

// Generate makes a key.
func Generate() SecretKey {
	var k SecretKey
	_, k.key, _ = ed25519.GenerateKey(nil) // crypto/rand does not fail
	rand.Read(k.id[:])
	return k
}

// Public returns the key that verifies what k signs.
func (k SecretKey) Public() PublicKey {
	p := PublicKey{id: k.id}
	copy(p.key[:], k.key[ed25519.SeedSize:])
	return p
}

// Sign returns a signature file of content. The comment is one line and part
// of what is signed.
func (k SecretKey) Sign(content []byte, comment string) ([]byte, error) {
	if len(comment) > maxComment || strings.ContainsAny(comment, "\r\n") {
		return nil, fmt.Errorf("the trusted comment is one line of at most %d bytes", maxComment)
	}
	hash := blake2b.Sum512(content)
	sig := ed25519.Sign(k.key, hash[:])
	head := append(append([]byte(algPrehashed), k.id[:]...), sig...)
	global := ed25519.Sign(k.key, bound(sig, comment))
	return fmt.Appendf(nil, "%ssignature from minisign secret key %s\n%s\n%s%s\n%s\n", untrusted, k.Public().ID(),
		base64.StdEncoding.EncodeToString(head), trusted, comment, base64.StdEncoding.EncodeToString(global)), nil
}

// A secret key's file: algorithms, salt and cost in clear, then number, key
// and checksum, which the passphrase's stream is laid over.
const (
	kdfScrypt = "Sc"
	kdfNone   = "\x00\x00"
	sumBlake  = "B2"
	saltSize  = 32
	clearSize = 2 + 2 + 2 + saltSize + 8 + 8
	sealSize  = 8 + ed25519.PrivateKeySize + blake2b.Size256
)

// Cost of new passphrases: scrypt with N = 2^17, r = 8, p = 1, which takes
// 128 MiB and under a second. The bounds admit what minisign itself writes,
// which takes 1 GiB.
const (
	newOps    = 1 << 22
	newMemory = 1 << 27
	maxOps    = 1 << 25
	maxMemory = 1 << 30
)

// File returns the key as a file, sealed with a passphrase unless it is empty.
func (k SecretKey) File(passphrase []byte) ([]byte, error) {
	b := make([]byte, clearSize, clearSize+sealSize)
	copy(b, algKey+kdfNone+sumBlake)
	b = append(append(append(b, k.id[:]...), k.key...), k.checksum()...)
	if len(passphrase) > 0 {
		copy(b[2:], kdfScrypt)
		rand.Read(b[6 : 6+saltSize])
		binary.LittleEndian.PutUint64(b[38:], newOps)
		binary.LittleEndian.PutUint64(b[46:], newMemory)
		if err := seal(b, passphrase); err != nil {
			return nil, err
		}
	}
	return fmt.Appendf(nil, "%sminisign secret key %s\n%s\n", untrusted, k.Public().ID(), base64.StdEncoding.EncodeToString(b)), nil
}

func (k SecretKey) checksum() []byte {
	sum := blake2b.Sum256(append(append([]byte(algKey), k.id[:]...), k.key...))
	return sum[:]
}

// ParseSecretKey reads a key's file. When it is sealed and the passphrase is
// empty or wrong the error is ErrPassphrase.
func ParseSecretKey(file, passphrase []byte) (SecretKey, error) {
	b, err := secretBytes(file)
	if err != nil {
		return SecretKey{}, err
	}
	sealed := string(b[2:4]) == kdfScrypt
	if sealed {
		if len(passphrase) == 0 {
			return SecretKey{}, ErrPassphrase
		}
		if err := seal(b, passphrase); err != nil {
			return SecretKey{}, err
		}
	}
	k := SecretKey{key: bytes.Clone(b[clearSize+8 : clearSize+8+ed25519.PrivateKeySize])}
	copy(k.id[:], b[clearSize:])
	sum := b[len(b)-blake2b.Size256:]
	whole := subtle.ConstantTimeCompare(k.checksum(), sum) == 1
	if !sealed && bytes.Equal(sum, make([]byte, len(sum))) {
		whole = true // minisign 0.11 writes none without a passphrase
	}
	switch {
	case !whole && sealed:
		return SecretKey{}, ErrPassphrase
	case !whole || !bytes.Equal(ed25519.NewKeyFromSeed(k.key.Seed()), k.key):
		return SecretKey{}, fmt.Errorf("reading secret key: %w", ErrFormat)
	}
	return k, nil
}

// Sealed reports whether a secret key's file needs a passphrase.
func Sealed(file []byte) bool {
	b, err := secretBytes(file)
	return err == nil && string(b[2:4]) == kdfScrypt
}

func secretBytes(file []byte) ([]byte, error) {
	bad := fmt.Errorf("reading secret key: %w", ErrFormat)
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(file), "\r\n", "\n")), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], untrusted) {
		return nil, bad
	}
	b, err := decode(lines[1], clearSize+sealSize)
	if err != nil || string(b[:2]) != algKey || string(b[4:6]) != sumBlake {
		return nil, bad
	}
	if kdf := string(b[2:4]); kdf != kdfScrypt && kdf != kdfNone {
		return nil, bad
	}
	return b, nil
}

// seal lays the passphrase's stream over the secret part of b; doing it twice
// undoes it.
func seal(b, passphrase []byte) error {
	n, p, err := cost(binary.LittleEndian.Uint64(b[38:]), binary.LittleEndian.Uint64(b[46:]))
	if err != nil {
		return err
	}
	stream, err := scrypt.Key(passphrase, b[6:6+saltSize], n, 8, p, sealSize)
	if err != nil {
		return fmt.Errorf("deriving key: %w", err)
	}
	subtle.XORBytes(b[clearSize:], b[clearSize:], stream)
	return nil
}

// cost follows libsodium's pickparams
// (crypto_pwhash_scryptsalsa208sha256, 1.0.18), where r is always 8.
func cost(ops, memory uint64) (n, p int, err error) {
	if ops > maxOps || memory > maxMemory {
		return 0, 0, fmt.Errorf("the key's passphrase costs more than %d MiB: %w", maxMemory>>20, ErrFormat)
	}
	ops = max(ops, 32768)
	most := memory / (8 * 128)
	if ops < memory/32 {
		most = ops / (8 * 4)
	}
	log := 1
	for uint64(1)<<log <= most/2 {
		log++
	}
	if ops < memory/32 {
		return 1 << log, 1, nil
	}
	return 1 << log, max(1, int(min(ops/4>>log, 0x3fffffff)/8)), nil
}
