package minisign

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOfMinisign reads what minisign 0.11 wrote:
//
//	minisign -G -W -p plain.pub -s plain.key
//	minisign -S -W -s plain.key -m content -t 'policy polite 1.0.0'
func TestOfMinisign(t *testing.T) {
	t.Parallel()
	pub, err := ParsePublicKey(string(read(t, "plain.pub")))
	if err != nil {
		t.Fatal(err)
	}
	comment, err := Verify(pub, read(t, "content"), read(t, "content.minisig"))
	if err != nil || comment != "policy polite 1.0.0" {
		t.Errorf("comment %q, error %v", comment, err)
	}
	if id := pub.ID(); id != "4157B9693C8DC998" {
		t.Errorf("id %s", id)
	}
	if got := pub.File(); !bytes.Equal(got, read(t, "plain.pub")) {
		t.Errorf("the key is written as\n%s", got)
	}
	secret, err := ParseSecretKey(read(t, "plain.key"), nil)
	if err != nil || secret.Public() != pub {
		t.Fatalf("another key: %v", err)
	}
	again, err := secret.Sign(read(t, "content"), "policy polite 1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	_, signed, _ := strings.Cut(string(read(t, "content.minisig")), "\n")
	if _, got, _ := strings.Cut(string(again), "\n"); got != signed {
		t.Errorf("signed as\n%s, by minisign as\n%s", got, signed)
	}
}

// TestSealedByMinisign opens a key that minisign sealed with the passphrase
// hunter2.
func TestSealedByMinisign(t *testing.T) {
	if testing.Short() {
		t.Skip("minisign's own passphrases take 1 GiB and some seconds")
	}
	file := read(t, "sealed.key")
	if !Sealed(file) {
		t.Error("the key is said to be open")
	}
	k, err := ParseSecretKey(file, []byte("hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := k.Public().File(), read(t, "sealed.pub"); !bytes.Equal(got, want) {
		t.Errorf("opened %s, want %s", got, want)
	}
}

func TestPassphrase(t *testing.T) {
	t.Parallel()
	k := Generate()
	file, err := k.File([]byte("open sesame"))
	if err != nil {
		t.Fatal(err)
	}
	for phrase, want := range map[string]error{"open sesame": nil, "open barley": ErrPassphrase, "": ErrPassphrase} {
		got, err := ParseSecretKey(file, []byte(phrase))
		if !errors.Is(err, want) || err == nil && got.Public() != k.Public() {
			t.Errorf("%q: %v", phrase, err)
		}
	}
	plain, err := k.File(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseSecretKey(plain, nil); err != nil || got.Public() != k.Public() || Sealed(plain) {
		t.Errorf("an open key: %v", err)
	}
}

// TestCost compares with what libsodium's pickparams gives for the parameters
// of minisign, which it calls sensitive, and for its interactive ones.
func TestCost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ops, memory uint64
		n, p        int
	}{{33554432, 1 << 30, 1 << 20, 1}, {524288, 16 << 20, 1 << 14, 1}, {newOps, newMemory, 1 << 17, 1}, {0, 1 << 30, 1 << 10, 1}} {
		if n, p, err := cost(c.ops, c.memory); err != nil || n != c.n || p != c.p {
			t.Errorf("%d operations in %d bytes: N %d, p %d, %v", c.ops, c.memory, n, p, err)
		}
	}
	if _, _, err := cost(1<<40, 1<<40); !errors.Is(err, ErrFormat) {
		t.Errorf("a terabyte: %v", err)
	}
}

func TestEveryFlipIsFound(t *testing.T) {
	t.Parallel()
	k := Generate()
	content := []byte("a policy")
	file, err := k.Sign(content, "polite 1.0.0")
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
			if _, err := Verify(k.Public(), content, flipped); err == nil && !bytes.Equal(bytes.ReplaceAll(flipped, []byte("\r\n"), []byte("\n")), file) {
				t.Fatalf("byte %d, bit %d: verified\n%s", i, bit, flipped)
			}
		}
	}
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	k, other := Generate(), Generate()
	content := []byte("a policy")
	file, err := k.Sign(content, "polite 1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	older, err := k.Sign([]byte("older"), "polite 0.9.0")
	if err != nil {
		t.Fatal(err)
	}
	mine, theirs := strings.Split(string(file), "\n"), strings.Split(string(older), "\n")
	claimed := other
	claimed.id = k.id // another key that claims k's number
	forged, err := claimed.Sign(content, "polite 1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	legacy := strings.Replace(string(file), "\nRU", "\nRW", 1)
	for name, c := range map[string]struct {
		key     PublicKey
		content string
		file    string
		want    error
	}{
		"as signed":            {k.Public(), "a policy", string(file), nil},
		"with CRLF":            {k.Public(), "a policy", strings.ReplaceAll(string(file), "\n", "\r\n"), nil},
		"other content":        {k.Public(), "a poliCy", string(file), ErrSignature},
		"another key":          {other.Public(), "a policy", string(file), ErrKey},
		"a key with my number": {k.Public(), "a policy", string(forged), ErrSignature},
		"another comment":      {k.Public(), "a policy", strings.Replace(string(file), "1.0.0", "2.0.0", 1), ErrComment},
		"comment of another":   {k.Public(), "a policy", strings.Join([]string{mine[0], mine[1], theirs[2], theirs[3], ""}, "\n"), ErrComment},
		"not prehashed":        {k.Public(), "a policy", legacy, ErrFormat},
		"a fifth line":         {k.Public(), "a policy", string(file) + "more\n", ErrFormat},
		"three lines":          {k.Public(), "a policy", strings.Join(mine[:3], "\n"), ErrFormat},
		"nothing":              {k.Public(), "a policy", "", ErrFormat},
		"zeros":                {k.Public(), "a policy", untrusted + "\n" + base64.StdEncoding.EncodeToString(make([]byte, 74)) + "\n" + trusted + "\n" + base64.StdEncoding.EncodeToString(make([]byte, 64)), ErrFormat},
	} {
		if _, err := Verify(c.key, []byte(c.content), []byte(c.file)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := k.Sign(content, "two\nlines"); err == nil {
		t.Error("a comment of two lines was signed")
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"content.minisig", "plain.pub", "plain.key"} {
		f.Add(read(f, name))
	}
	pub, err := ParsePublicKey(string(read(f, "plain.pub")))
	if err != nil {
		f.Fatal(err)
	}
	content := read(f, "content")
	f.Fuzz(func(t *testing.T, b []byte) {
		if k, err := ParsePublicKey(string(b)); err == nil {
			if again, err := ParsePublicKey(k.String()); err != nil || again != k {
				t.Errorf("%q is read back as another key: %v", k, err)
			}
		}
		if !Sealed(b) { // a passphrase is derived for long
			_, _ = ParseSecretKey(b, nil)
		}
		if comment, err := Verify(pub, content, b); err == nil && comment != "policy polite 1.0.0" {
			t.Errorf("%q was never signed", comment)
		}
	})
}
