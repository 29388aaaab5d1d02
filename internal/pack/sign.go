package pack

import (
	"errors"
	"os"
	"runtime"

	"github.com/folkmoot/moot/internal/minisign"
)

// SignatureExtension is what a signature's file has beyond the pack's name.
const SignatureExtension = ".minisig"

// Verify checks that signature, a signature's file, is of a pack and by key.
func Verify(where string, file, signature []byte, key minisign.PublicKey) error {
	_, err := minisign.Verify(key, file, signature)
	const fix = "get the pack and its signature from its author again"
	switch {
	case err == nil:
		return nil
	case errors.Is(err, minisign.ErrKey):
		return refuse("POL-PACK-KEY", where, "ask its author; name the right key with --key", "is %v", err)
	}
	return refuse("POL-PACK-SIGNATURE", where, fix, "%v", err)
}

// ReadKey reads a public key: the key itself, or a file that holds it.
func ReadKey(arg string) (minisign.PublicKey, error) {
	if k, err := minisign.ParsePublicKey(arg); err == nil {
		return k, nil
	}
	text, err := os.ReadFile(arg)
	if err != nil {
		return minisign.PublicKey{}, refuse("POL-KEY", clip(arg), "give the line that begins with RW, or a file that holds it", "neither a public key nor a file that can be read")
	}
	k, err := minisign.ParsePublicKey(string(text))
	if err != nil {
		return k, refuse("POL-KEY", arg, "the public key is in the file that ends with .pub", "holds no public key in minisign's form")
	}
	return k, nil
}

// WriteKey writes a new secret key to path, for its owner alone, and the
// public one to path.pub. Neither may exist.
func WriteKey(path string, k minisign.SecretKey, passphrase []byte) error {
	secret, err := k.File(passphrase)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		path string
		text []byte
		mode os.FileMode
	}{{path, secret, 0o600}, {path + ".pub", k.Public().File(), 0o644}} {
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

// ReadSecretKey reads a secret key. Ask is called for the passphrase of one
// that has one. A file that others may read is refused.
func ReadSecretKey(path string, ask func() ([]byte, error)) (minisign.SecretKey, error) {
	var none minisign.SecretKey
	st, err := os.Stat(path)
	if err != nil {
		return none, refuse("POL-KEY", path, "make one: moot policy pack --new-key FILE", "the key cannot be read: %s", reason(err))
	}
	if st.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return none, refuse("POL-KEY", path, "chmod 600 "+path, "others may read the secret key: its mode is %04o", st.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return none, refuse("POL-KEY", path, "", "the key cannot be read: %s", reason(err))
	}
	var passphrase []byte
	if minisign.Sealed(text) {
		if passphrase, err = ask(); err != nil {
			return none, err
		}
	}
	k, err := minisign.ParseSecretKey(text, passphrase)
	switch {
	case errors.Is(err, minisign.ErrPassphrase):
		return none, refuse("POL-KEY", path, "type it again", "the passphrase is not the key's")
	case err != nil:
		return none, refuse("POL-KEY", path, "name the file that `moot policy pack --new-key` or `minisign -G` wrote", "holds no secret key in minisign's form")
	}
	return k, nil
}
