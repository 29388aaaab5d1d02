package identity

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A DeviceID identifies a device: its public Ed25519 key. Relays and peers see
// it, and it never changes.
type DeviceID [ed25519.PublicKeySize]byte

const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

var encoding = base32.NewEncoding(alphabet).WithPadding(base32.NoPadding)

const (
	plainLen = 52 // characters of 32 bytes
	blockLen = 13 // characters per check character
	groupLen = 7  // characters between two dashes
)

// ErrDeviceID reports a text that is not a device id, or has a typing error.
var ErrDeviceID = errors.New("not a device id")

// String returns the 52 characters that logs and room.yaml contain.
func (d DeviceID) String() string { return encoding.EncodeToString(d[:]) }

// Display returns the form for people: a check character after every 13
// characters, in eight groups of seven. It detects every single wrong
// character.
func (d DeviceID) Display() string {
	plain := d.String()
	var checked strings.Builder
	for i := 0; i < plainLen; i += blockLen {
		block := plain[i : i+blockLen]
		checked.WriteString(block)
		checked.WriteByte(checkCharacter(block))
	}
	return grouped(checked.String())
}

// Short returns the first group, for compact output. It is not unique.
func (d DeviceID) Short() string { return d.String()[:groupLen] }

// MarshalText returns the 52 characters.
func (d DeviceID) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText accepts what ParseDeviceID accepts.
func (d *DeviceID) UnmarshalText(b []byte) error {
	id, err := ParseDeviceID(string(b))
	*d = id
	return err
}

// ParseDeviceID parses either form. It ignores case, spaces and dashes, and
// reads the digits 0, 1 and 8 as o, i and b. With check characters, the error
// names the group with the typing error. Errors wrap ErrDeviceID.
func ParseDeviceID(s string) (DeviceID, error) {
	if len(s) > 4*plainLen {
		return DeviceID{}, fmt.Errorf("%w: it is too long", ErrDeviceID)
	}
	s = strings.NewReplacer("-", "", " ", "", "0", "o", "1", "i", "8", "b").Replace(strings.ToLower(s))
	if i := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune(alphabet, r) }); i >= 0 {
		return DeviceID{}, fmt.Errorf("%w: %q is not one of its characters", ErrDeviceID, []rune(s[i:])[0])
	}
	plain, err := stripChecks(s)
	if err != nil {
		return DeviceID{}, err
	}
	b, err := encoding.DecodeString(plain)
	if err != nil {
		return DeviceID{}, fmt.Errorf("%w: %v", ErrDeviceID, err)
	}
	id := DeviceID(b)
	if id.String() != plain { // the last character has four unused bits
		return DeviceID{}, fmt.Errorf("%w: its last character is wrong", ErrDeviceID)
	}
	return id, nil
}

// stripChecks verifies and removes the check characters.
func stripChecks(s string) (string, error) {
	switch len(s) {
	case plainLen:
		return s, nil
	case plainLen + plainLen/blockLen:
	default:
		return "", fmt.Errorf("%w: it has %d characters instead of 52, or 56 with check characters", ErrDeviceID, len(s))
	}
	var plain strings.Builder
	for i := 0; i < len(s); i += blockLen + 1 {
		block, check := s[i:i+blockLen], s[i+blockLen]
		if checkCharacter(block) != check {
			return "", fmt.Errorf("%w: there is a typing error in %s", ErrDeviceID, grouped(s[i:i+blockLen+1]))
		}
		plain.WriteString(block)
	}
	return plain.String(), nil
}

// checkCharacter implements the Luhn mod N algorithm with N = 32
// (https://en.wikipedia.org/wiki/Luhn_mod_N_algorithm). It detects every single
// wrong character and nearly every swap of neighbours.
func checkCharacter(block string) byte {
	const n = len(alphabet)
	sum := 0
	for i := range len(block) {
		v := strings.IndexByte(alphabet, block[i])
		if (len(block)-i)%2 == 1 { // every second character, counted from the last
			v *= 2
			v = v/n + v%n
		}
		sum += v
	}
	return alphabet[(n-sum%n)%n]
}

func grouped(s string) string {
	groups := slices.Collect(slices.Chunk([]byte(s), groupLen))
	return string(bytes.Join(groups, []byte("-")))
}
