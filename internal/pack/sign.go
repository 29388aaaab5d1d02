package pack

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
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
		return PublicKey{}, Refuse("POL-KEY", clip(arg), "give the line that begins with RW, or a file that holds it", "neither a public key nor a file that can be read")
	}
	k, err := ParsePublicKey(string(text))
	if err != nil {
		return k, Refuse("POL-KEY", arg, "the public key is in the file that ends with .pub", "holds no public key in minisign's form")
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
			return Refuse("POL-KEY", f.path, "name another file", "the key cannot be written: %s", Reason(err))
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
		return k, Refuse("POL-KEY", path, "make one: moot policy pack --new-key FILE", "the key cannot be read: %s", Reason(err))
	}
	if st.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return k, Refuse("POL-KEY", path, "chmod 600 "+path, "others may read the secret key: its mode is %04o", st.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return k, Refuse("POL-KEY", path, "", "the key cannot be read: %s", Reason(err))
	}
	if !minisign.IsEncrypted(text) {
		if err := k.UnmarshalText(text); err != nil {
			return k, Refuse("POL-KEY", path, "name the file that `moot policy pack --new-key` or `minisign -G` wrote", "holds no secret key in minisign's form")
		}
		return k, nil
	}
	passphrase, err := ask()
	if err != nil {
		return k, err
	}
	if k, err = minisign.DecryptKey(string(passphrase), text); err != nil {
		return k, Refuse("POL-KEY", path, "type it again", "the passphrase is not the key's")
	}
	return k, nil
}

// SignatureExtension is appended to the file name of a pack to name the file
// of its signature.
const SignatureExtension = ".minisig"

// maxSignature is the largest signature file that is read, in bytes. A trusted
// comment takes most of it.
const maxSignature = 4 << 10

var (
	errSignatureForm = errors.New("the signature is not in minisign's format")
	errSignature     = errors.New("the signature does not match the content and the trusted comment")
)

// Sign returns a signature file of content. The comment is part of what is
// signed. It is one line.
func Sign(key SecretKey, content []byte, comment string) ([]byte, error) {
	if strings.ContainsAny(comment, "\r\n") || len(comment) > maxSignature/4 {
		return nil, fmt.Errorf("the trusted comment is one line of at most %d bytes", maxSignature/4)
	}
	r := minisign.NewReader(bytes.NewReader(content)) // hashes the bytes that pass
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, fmt.Errorf("hashing: %w", err)
	}
	return r.SignWithComments(key, comment, fmt.Sprintf("signature from minisign secret key %016X", key.ID())), nil
}

// Verify checks that signature, the content of a signature file, is of the
// pack in file and was made with key. Where names the pack in errors, which
// are POL-PACK-KEY and POL-PACK-SIGNATURE.
func Verify(where string, file, signature []byte, key PublicKey) error {
	s, err := parseSignature(signature)
	switch {
	case err == nil && s.KeyID != key.ID():
		return Refuse("POL-PACK-KEY", where, "ask its author; name the right key with --key",
			"is signed with another key: %016X, not %016X", s.KeyID, key.ID())
	case err == nil && !minisign.Verify(key, file, signature):
		err = errSignature
	}
	if err != nil {
		return Refuse("POL-PACK-SIGNATURE", where, "get the pack and its signature from its author again", "%v", err)
	}
	return nil
}

// parseSignature reads a signature file. It accepts the only form that
// minisign has written by default since 2022: over the BLAKE2b-512 of the
// content, in canonical base64, with nothing before or after.
func parseSignature(file []byte) (s minisign.Signature, err error) {
	if len(file) > maxSignature || s.UnmarshalText(file) != nil || s.Algorithm != minisign.HashEdDSA {
		return s, errSignatureForm
	}
	canonical := bytes.TrimSuffix(bytes.ReplaceAll(file, []byte("\r\n"), []byte("\n")), []byte("\n"))
	if s.String() != string(canonical)+"\n" {
		return s, errSignatureForm
	}
	return s, nil
}
