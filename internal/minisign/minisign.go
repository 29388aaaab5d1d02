// Package minisign signs and verifies files with Ed25519 in the format of
// minisign (https://jedisct1.github.io/minisign/), so that what this program
// signs can be checked without it and the other way round.
//
// A signature is over the BLAKE2b-512 of the content. It carries a trusted
// comment, which a second signature over the first one and the comment binds
// to it; the untrusted comment is for eyes only and never returned. Only the
// prehashed form "ED" is written and read: minisign has written no other by
// default since 2022.
package minisign

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/blake2b"
)

// Errors that callers branch on.
var (
	ErrFormat     = errors.New("not in minisign's format")
	ErrKey        = errors.New("signed with another key")
	ErrSignature  = errors.New("the signature does not belong to the content")
	ErrComment    = errors.New("the trusted comment does not belong to the signature")
	ErrPassphrase = errors.New("the key needs its passphrase")
)

const (
	algKey       = "Ed" // of keys
	algPrehashed = "ED" // of signatures over BLAKE2b-512
	untrusted    = "untrusted comment: "
	trusted      = "trusted comment: "
	maxComment   = 1024 // bytes; minisign's own bound is 8 KiB
)

// A PublicKey verifies. Keys are compared with ==.
type PublicKey struct {
	id  [8]byte
	key [ed25519.PublicKeySize]byte
}

// ParsePublicKey reads a public key: the line that begins with RW, alone or
// in a file below its comment.
func ParsePublicKey(text string) (PublicKey, error) {
	var k PublicKey
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) == 2 && strings.HasPrefix(lines[0], untrusted) {
		lines = lines[1:]
	}
	b, err := decode(strings.TrimSuffix(lines[0], "\r"), 2+len(k.id)+len(k.key))
	if err != nil || len(lines) != 1 || string(b[:2]) != algKey {
		return k, fmt.Errorf("reading public key: %w", ErrFormat)
	}
	copy(k.id[:], b[2:])
	copy(k.key[:], b[10:])
	return k, nil
}

// String returns the key as one line; ParsePublicKey reads it.
func (k PublicKey) String() string {
	return base64.StdEncoding.EncodeToString(append(append([]byte(algKey), k.id[:]...), k.key[:]...))
}

// ID returns the key's number as minisign prints it.
func (k PublicKey) ID() string {
	id := bytes.Clone(k.id[:])
	for i := range len(id) / 2 {
		id[i], id[len(id)-1-i] = id[len(id)-1-i], id[i]
	}
	return fmt.Sprintf("%X", id)
}

// File returns the key as a file.
func (k PublicKey) File() []byte {
	return []byte(untrusted + "minisign public key " + k.ID() + "\n" + k.String() + "\n")
}

// A signature is a signature file that was read.
type signature struct {
	id      [8]byte
	content [ed25519.SignatureSize]byte
	comment string
	global  [ed25519.SignatureSize]byte
}

// parse reads a signature file: four lines and nothing else.
func parse(file []byte) (signature, error) {
	var s signature
	bad := fmt.Errorf("reading signature: %w", ErrFormat)
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(file), "\r\n", "\n"), "\n"), "\n")
	if len(file) > 4*maxComment || len(lines) != 4 || !strings.HasPrefix(lines[0], untrusted) {
		return s, bad
	}
	b, err := decode(lines[1], 2+len(s.id)+len(s.content))
	if err != nil || string(b[:2]) != algPrehashed {
		return s, bad
	}
	copy(s.id[:], b[2:])
	copy(s.content[:], b[10:])
	var ok bool
	if s.comment, ok = strings.CutPrefix(lines[2], trusted); !ok || len(s.comment) > maxComment {
		return s, bad
	}
	if b, err = decode(lines[3], len(s.global)); err != nil {
		return s, bad
	}
	copy(s.global[:], b)
	return s, nil
}

// Verify checks that file, a signature file, is of content and by key. It
// returns the trusted comment.
func Verify(key PublicKey, content, file []byte) (comment string, err error) {
	s, err := parse(file)
	if err != nil {
		return "", err
	}
	if s.id != key.id {
		return "", fmt.Errorf("%w: %s, not %s", ErrKey, PublicKey{id: s.id}.ID(), key.ID())
	}
	hash := blake2b.Sum512(content)
	if !ed25519.Verify(key.key[:], hash[:], s.content[:]) {
		return "", ErrSignature
	}
	if !ed25519.Verify(key.key[:], bound(s.content[:], s.comment), s.global[:]) {
		return "", ErrComment
	}
	return s.comment, nil
}

// bound is what the second signature is over.
func bound(sig []byte, comment string) []byte {
	return append(bytes.Clone(sig), comment...)
}

// decode reads base64 of exactly n bytes.
func decode(s string, n int) ([]byte, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != n || strings.ContainsAny(s, "\r\n") {
		return nil, ErrFormat
	}
	return b, nil
}
