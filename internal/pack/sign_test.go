package pack

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/minisign"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "my.key")
	k := minisign.Generate()
	if err := WriteKey(path, k, []byte("open")); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	if err := WriteKey(path, k, nil); code(err) != "POL-KEY" {
		t.Errorf("over another key: %v", err)
	}
	ask := func(phrase string) func() ([]byte, error) {
		return func() ([]byte, error) { return []byte(phrase), nil }
	}
	if got, err := ReadSecretKey(path, ask("open")); err != nil || got.Public() != k.Public() {
		t.Errorf("another key, %v", err)
	}
	if _, err := ReadSecretKey(path, ask("shut")); code(err) != "POL-KEY" || !strings.Contains(err.Error(), "passphrase") {
		t.Errorf("another passphrase: %v", err)
	}
	errAsk := errors.New("nobody there")
	if _, err := ReadSecretKey(path, func() ([]byte, error) { return nil, errAsk }); !errors.Is(err, errAsk) {
		t.Errorf("nobody to ask: %v", err)
	}
	if _, err := ReadSecretKey(path+".pub", ask("")); code(err) != "POL-KEY" {
		t.Errorf("the public key as the secret one: %v", err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSecretKey(path, ask("open")); code(err) != "POL-KEY" || !strings.Contains(err.Error(), "0640") {
		t.Errorf("others may read it: %v", err)
	}
	for _, arg := range []string{k.Public().String(), path + ".pub"} {
		if got, err := ReadKey(arg); err != nil || got != k.Public() {
			t.Errorf("%s: %v", arg, err)
		}
	}
	for _, arg := range []string{path, "RWnothing", ""} {
		if _, err := ReadKey(arg); code(err) != "POL-KEY" {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	k := minisign.Generate()
	file := written(t, polite("1.0.0"))
	sig, err := k.Sign(file, "polite 1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	tampered := append([]byte(nil), file...)
	tampered[len(tampered)/2]++
	for name, c := range map[string]struct {
		file, sig []byte
		key       minisign.PublicKey
		want      string
	}{
		"as signed":       {file, sig, k.Public(), ""},
		"tampered":        {tampered, sig, k.Public(), "POL-PACK-SIGNATURE"},
		"another comment": {file, []byte(strings.Replace(string(sig), "1.0.0", "2.0.0", 1)), k.Public(), "POL-PACK-SIGNATURE"},
		"no signature":    {file, nil, k.Public(), "POL-PACK-SIGNATURE"},
		"another key":     {file, sig, minisign.Generate().Public(), "POL-PACK-KEY"},
	} {
		if err := Verify("it", c.file, c.sig, c.key); code(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
