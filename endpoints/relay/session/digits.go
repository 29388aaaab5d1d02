package session

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// The digits that two owners compare are a short authentication string with a
// commitment (S. Vaudenay, "Secure Communications over Insecure Channels Based
// on Short Authenticated Strings", CRYPTO 2005; ZRTP, RFC 6189, section 4.5.2,
// does the same with its hash commitment). Message 1 commits the joiner to a
// random nonce, and only its first transport message reveals it. An attacker
// who poses as the host must send message 2 before it knows the nonce. One who
// poses as a joiner has chosen the nonce before it sees message 2, which has
// the host's fresh random key. So neither can try values until the digits of
// two pairings are equal: each pairing gives one chance in 10^12.

const (
	commitContext = "moot-e2e/2 commit\x00"
	digitsContext = "moot-e2e/2 digits\x00"
	nonceSize     = 32
)

func newNonce() []byte {
	b := make([]byte, nonceSize)
	_, _ = rand.Read(b) // does not fail
	return b
}

// commitTo returns the commitment to a nonce.
func commitTo(nonce []byte) []byte {
	sum := sha256.Sum256(append([]byte(commitContext), nonce...))
	return sum[:]
}

// digitsOf returns the twelve digits of a pairing. binding is the hash of both
// handshake messages, so the digits depend on everything that each side has
// sent: the joiner's commitment and the keys of both.
func digitsOf(binding, nonce []byte) string {
	b := append([]byte(digitsContext), binding...)
	sum := sha256.Sum256(append(b, nonce...))
	const million = 1_000_000
	return fmt.Sprintf("%06d %06d", binary.BigEndian.Uint64(sum[:])%million, binary.BigEndian.Uint64(sum[8:])%million)
}
