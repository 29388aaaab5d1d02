package pack

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"aead.dev/minisign"
)

// A SecretKey signs packs.
type SecretKey = minisign.PrivateKey

// A PublicKey verifies signatures.
type PublicKey = minisign.PublicKey

// NewKey returns a new random key.
func NewKey() (SecretKey, error) {
	_, k, err := minisign.GenerateKey(nil)
	if err != nil {
		return k, fmt.Errorf("generating key: %w", err)
	}
	return k, nil
}

// Public returns the key that verifies what k signs.
func Public(k SecretKey) PublicKey { return k.Public().(PublicKey) }

// ParsePublicKey reads a public key: the line that begins with RW, alone or
// below minisign's comment.
func ParsePublicKey(text string) (PublicKey, error) {
	var k PublicKey
	text = strings.TrimSpace(text)
	if err := k.UnmarshalText([]byte(text)); err != nil {
		return k, err
	}
	if !strings.HasSuffix(text, k.String()) {
		return k, base64.CorruptInputError(0) // not canonical: one key has one text
	}
	return k, nil
}

// KeyID returns the number of a key as minisign prints it.
func KeyID(k PublicKey) string { return fmt.Sprintf("%016X", k.ID()) }

// ReadKey reads a public key. Arg is the key itself, or names a file that
// holds it. The errors are POL-KEY.
func ReadKey(arg string) (PublicKey, error) {
	if k, err := ParsePublicKey(arg); err == nil {
		return k, nil
	}
	text, err := os.ReadFile(arg)
	if err != nil {
		return PublicKey{}, refuse("POL-KEY", clip(arg), "give the line that begins with RW, or a file that holds it", "neither a public key nor a file that can be read")
	}
	k, err := ParsePublicKey(string(text))
	if err != nil {
		return k, refuse("POL-KEY", arg, "the public key is in the file that ends with .pub", "holds no public key in minisign's form")
	}
	return k, nil
}

// WriteKey writes a new secret key to path, readable by its owner alone, and
// the public key to path.pub. It encrypts the secret key if passphrase is not
// empty, at minisign's own cost: 1 GiB of memory and some seconds. Neither
// file may exist.
func WriteKey(path string, k SecretKey, passphrase []byte) error {
	secret, err := k.MarshalText()
	if len(passphrase) > 0 {
		secret, err = minisign.EncryptKey(string(passphrase), k)
	}
	if err != nil {
		return fmt.Errorf("encoding key: %w", err)
	}
	public := fmt.Appendf(nil, "untrusted comment: minisign public key %s\n%s\n", KeyID(Public(k)), Public(k))
	for _, f := range []struct {
		path string
		text []byte
		mode os.FileMode
	}{{path, append(secret, '\n'), 0o600}, {path + ".pub", public, 0o644}} {
		if err := writeNew(f.path, f.text, f.mode); err != nil {
			return refuse("POL-KEY", f.path, "name another file", "the key cannot be written: %s", reason(err))
		}
	}
	return nil
}

func writeNew(path string, text []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// ReadSecretKey reads a secret key. It calls ask for the passphrase of an
// encrypted key. It refuses a file that others may read. Its own errors are
// POL-KEY; an error of ask is returned as it is.
func ReadSecretKey(path string, ask func() ([]byte, error)) (SecretKey, error) {
	var k SecretKey
	st, err := os.Stat(path)
	if err != nil {
		return k, refuse("POL-KEY", path, "make one: moot policy pack --new-key FILE", "the key cannot be read: %s", reason(err))
	}
	if st.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return k, refuse("POL-KEY", path, "chmod 600 "+path, "others may read the secret key: its mode is %04o", st.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return k, refuse("POL-KEY", path, "", "the key cannot be read: %s", reason(err))
	}
	if !minisign.IsEncrypted(text) {
		if err := k.UnmarshalText(text); err != nil {
			return k, refuse("POL-KEY", path, "name the file that `moot policy pack --new-key` or `minisign -G` wrote", "holds no secret key in minisign's form")
		}
		return k, nil
	}
	passphrase, err := ask()
	if err != nil {
		return k, err
	}
	if k, err = minisign.DecryptKey(string(passphrase), text); err != nil {
		return k, refuse("POL-KEY", path, "type it again", "the passphrase is not the key's")
	}
	return k, nil
}
