package pack

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func newKey(t testing.TB) SecretKey {
	t.Helper()
	k, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func passphrase(s string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(s), nil }
}

// private copies a key of testdata to a file that its owner alone may read.
func private(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, fixture(t, name), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestKeyFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "my.key")
	k := newKey(t)
	if err := WriteKey(path, k, nil); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	if err := WriteKey(path, k, nil); code(err) != "POL-KEY" {
		t.Errorf("over another key: %v", err)
	}
	if got, err := ReadSecretKey(path, nil); err != nil || !got.Equal(k) {
		t.Errorf("another key, %v", err)
	}
	if _, err := ReadSecretKey(path+".pub", passphrase("")); code(err) != "POL-KEY" {
		t.Errorf("the public key as the secret one: %v", err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSecretKey(path, nil); code(err) != "POL-KEY" || !strings.Contains(err.Error(), "0640") {
		t.Errorf("others may read it: %v", err)
	}
	for _, arg := range []string{Public(k).String(), path + ".pub"} {
		if got, err := ReadKey(arg); err != nil || !got.Equal(Public(k)) {
			t.Errorf("%s: %v", arg, err)
		}
	}
	for _, arg := range []string{path, "RWnothing", ""} {
		if _, err := ReadKey(arg); code(err) != "POL-KEY" {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

// TestPassphrase reads the key that minisign encrypted with the passphrase
// hunter2, and writes and reads one of its own.
func TestPassphrase(t *testing.T) {
	sealed := private(t, "sealed.key")
	errAsk := errors.New("no terminal")
	if _, err := ReadSecretKey(sealed, func() ([]byte, error) { return nil, errAsk }); !errors.Is(err, errAsk) {
		t.Errorf("no passphrase can be had: %v", err)
	}
	if testing.Short() {
		t.Skip("minisign derives keys from passphrases with 1 GiB of memory and some seconds")
	}
	k, err := ReadSecretKey(sealed, passphrase("hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	if want, err := ReadKey(filepath.Join("testdata", "sealed.pub")); err != nil || !Public(k).Equal(want) {
		t.Errorf("read key %s, want %s, %v", KeyID(Public(k)), KeyID(want), err)
	}
	path := filepath.Join(t.TempDir(), "my.key")
	if err := WriteKey(path, k, []byte("open sesame")); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadSecretKey(path, passphrase("open sesame")); err != nil || !got.Equal(k) {
		t.Errorf("another key, %v", err)
	}
}

// TestCheapPassphrase reads a key that an earlier version of this program
// encrypted at a lower cost, with the passphrase hunter2.
func TestCheapPassphrase(t *testing.T) {
	t.Parallel()
	k, err := ReadSecretKey(private(t, "cheap.key"), passphrase("hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	if want, err := ReadKey(filepath.Join("testdata", "cheap.key.pub")); err != nil || !Public(k).Equal(want) {
		t.Errorf("read key %s, want %s, %v", KeyID(Public(k)), KeyID(want), err)
	}
	for _, wrong := range []string{"hunter3", ""} {
		if _, err := ReadSecretKey(private(t, "cheap.key"), passphrase(wrong)); code(err) != "POL-KEY" || !strings.Contains(err.Error(), "passphrase") {
			t.Errorf("passphrase %q: %v", wrong, err)
		}
	}
}

// TestSignsAsMinisign compares with what minisign 0.11 wrote:
//
//	minisign -G -W -p plain.pub -s plain.key
//	minisign -S -W -s plain.key -m content -t 'policy polite 1.0.0'
func TestSignsAsMinisign(t *testing.T) {
	t.Parallel()
	public, err := ReadKey(filepath.Join("testdata", "plain.pub"))
	if err != nil {
		t.Fatal(err)
	}
	if id := KeyID(public); id != "4157B9693C8DC998" {
		t.Errorf("id %s", id)
	}
	if err := Verify("it", fixture(t, "content"), fixture(t, "content.minisig"), public); err != nil {
		t.Error(err)
	}
	secret, err := ReadSecretKey(private(t, "plain.key"), nil)
	if err != nil || !Public(secret).Equal(public) {
		t.Fatalf("another key: %v", err)
	}
	again, err := Sign(secret, fixture(t, "content"), "policy polite 1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := strings.Cut(string(fixture(t, "content.minisig")), "\n")
	if _, got, _ := strings.Cut(string(again), "\n"); got != want {
		t.Errorf("signed as\n%s, by minisign as\n%s", again, fixture(t, "content.minisig"))
	}
	path := filepath.Join(t.TempDir(), "k")
	if err := WriteKey(path, secret, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path + ".pub"); err != nil || !bytes.Equal(got, fixture(t, "plain.pub")) {
		t.Errorf("the public key is written as\n%s, %v", got, err)
	}
}

func TestEveryFlipIsFound(t *testing.T) {
	t.Parallel()
	k := newKey(t)
	content := []byte("a policy")
	file, err := Sign(k, content, "polite 1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(file, '\n')
	for i := first + 1; i < len(file)-1; i++ {
		for bit := range 8 {
			if testing.Short() && bit != i%8 {
				continue // one of a byte: the race detector makes this slow
			}
			flipped := bytes.Clone(file)
			flipped[i] ^= 1 << bit
			if err := Verify("it", content, flipped, Public(k)); err == nil && !bytes.Equal(bytes.ReplaceAll(flipped, []byte("\r\n"), []byte("\n")), file) {
				t.Fatalf("byte %d, bit %d: verified\n%s", i, bit, flipped)
			}
		}
	}
}

// withID returns k under the number of another key.
func withID(t testing.TB, k SecretKey, id uint64) SecretKey {
	t.Helper()
	text, err := k.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	comment, line, _ := strings.Cut(string(text), "\n")
	raw, err := base64.StdEncoding.DecodeString(line)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint64(raw[54:], id)
	if err := k.UnmarshalText([]byte(comment + "\n" + base64.StdEncoding.EncodeToString(raw))); err != nil {
		t.Fatal(err)
	}
	return k
}

func TestVerify(t *testing.T) {
	t.Parallel()
	k, other := newKey(t), newKey(t)
	signed := func(k SecretKey, content, comment string) string {
		sig, err := Sign(k, []byte(content), comment)
		if err != nil {
			t.Fatal(err)
		}
		return string(sig)
	}
	file := signed(k, "a policy", "polite 1.0.0")
	mine, theirs := strings.Split(file, "\n"), strings.Split(signed(k, "older", "polite 0.9.0"), "\n")
	zeros := func(n int) string { return base64.StdEncoding.EncodeToString(make([]byte, n)) }
	const form, match = "not in minisign's format", "does not match"
	for name, c := range map[string]struct {
		key     SecretKey
		content string
		file    string
		want    string
		says    string
	}{
		"as signed":                 {k, "a policy", file, "", ""},
		"with CRLF":                 {k, "a policy", strings.ReplaceAll(file, "\n", "\r\n"), "", ""},
		"other content":             {k, "a poliCy", file, "POL-PACK-SIGNATURE", match},
		"another key":               {other, "a policy", file, "POL-PACK-KEY", KeyID(Public(k))},
		"a key with the same ID":    {k, "a policy", signed(withID(t, other, k.ID()), "a policy", "polite 1.0.0"), "POL-PACK-SIGNATURE", match},
		"another comment":           {k, "a policy", strings.Replace(file, "1.0.0", "2.0.0", 1), "POL-PACK-SIGNATURE", match},
		"comment of another":        {k, "a policy", strings.Join([]string{mine[0], mine[1], theirs[2], theirs[3], ""}, "\n"), "POL-PACK-SIGNATURE", match},
		"not prehashed":             {k, "a policy", strings.Replace(file, "\nRU", "\nRW", 1), "POL-PACK-SIGNATURE", form},
		"a fifth line":              {k, "a policy", file + "more\n", "POL-PACK-SIGNATURE", form},
		"three lines":               {k, "a policy", strings.Join(mine[:3], "\n"), "POL-PACK-SIGNATURE", form},
		"nothing":                   {k, "a policy", "", "POL-PACK-SIGNATURE", form},
		"a comment of 4 KiB":        {k, "a policy", strings.Replace(file, "1.0.0", strings.Repeat("x", 4<<10), 1), "POL-PACK-SIGNATURE", form},
		"zeros":                     {k, "a policy", "untrusted comment: \n" + zeros(74) + "\ntrusted comment: \n" + zeros(64), "POL-PACK-SIGNATURE", form},
		"base64 that spans lines":   {k, "a policy", mine[0] + "\n" + mine[1] + "\n" + mine[2] + "\n" + mine[3][:8] + "\n" + mine[3][8:], "POL-PACK-SIGNATURE", form},
		"space behind the comment":  {k, "a policy", mine[0] + "\n" + mine[1] + "\n" + mine[2] + " \n" + mine[3], "POL-PACK-SIGNATURE", match},
		"another untrusted comment": {k, "a policy", "untrusted comment: x\n" + strings.Join(mine[1:], "\n"), "", ""},
	} {
		err := Verify("it", []byte(c.content), []byte(c.file), Public(c.key))
		if code(err) != c.want || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s with %q", name, err, c.want, c.says)
		}
	}
	if _, err := Sign(k, nil, "two\nlines"); err == nil {
		t.Error("a comment of two lines was signed")
	}
}

func FuzzSignature(f *testing.F) {
	for _, name := range []string{"content.minisig", "plain.pub", "plain.key"} {
		f.Add(fixture(f, name))
	}
	public, err := ReadKey(filepath.Join("testdata", "plain.pub"))
	if err != nil {
		f.Fatal(err)
	}
	content := fixture(f, "content")
	f.Fuzz(func(t *testing.T, b []byte) {
		if k, err := ParsePublicKey(string(b)); err == nil {
			if again, err := ParsePublicKey(k.String()); err != nil || !again.Equal(k) {
				t.Errorf("%q is read back as another key: %v", k, err)
			}
		}
		if err := Verify("it", content, b, public); err == nil && !bytes.Contains(b, []byte("trusted comment: policy polite 1.0.0")) {
			t.Errorf("this was never signed: %s", b)
		}
	})
}
