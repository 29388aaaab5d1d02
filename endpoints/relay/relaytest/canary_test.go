package relaytest_test

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/relay/relaytest"
)

func TestFindCanaries(t *testing.T) {
	const c = "canary-0123456789"
	for name, text := range map[string]string{
		"plain":      "before " + c + " behind",
		"reversed":   "before 9876543210-yranac behind",
		"utf-16":     strings.Join(strings.Split(c, ""), "\x00") + "\x00",
		"hex":        hex.EncodeToString([]byte("x" + c)),
		"HEX":        strings.ToUpper(hex.EncodeToString([]byte(c))),
		"base32":     strings.ToLower(base32.StdEncoding.EncodeToString([]byte(c))),
		"base64":     base64.StdEncoding.EncodeToString([]byte("x" + c + "behind")),
		"base64 2":   base64.StdEncoding.EncodeToString([]byte("xx" + c)),
		"base64 url": base64.URLEncoding.EncodeToString([]byte("xxx" + c + "?")),
	} {
		if found := relaytest.FindCanaries([]byte(text), "another", c); len(found) != 1 || found[0] != c {
			t.Errorf("%s: %q in %q", name, found, text)
		}
	}
	if found := relaytest.FindCanaries([]byte("canary-012345678"), c); found != nil {
		t.Error(found)
	}
}
