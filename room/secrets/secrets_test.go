package secrets_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room/secrets"
)

// canary is the part of each example that must not be shown.
const canary = "Zq7canaryZq7canaryZq7canaryZq7canary"

// TestRedact: each known form of a credential is removed, and what is around it
// stays.
func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"use sk-ant-api03-" + canary + " now":                            "use [redacted] now",
		"ghp_" + canary + ", github_pat_" + canary:                       "[redacted], [redacted]",
		"glpat-" + canary:                                                "[redacted]",
		"xoxb-" + canary:                                                 "[redacted]",
		"AKIAZQ7CANARYZQ7CANA (AWS)":                                     "[redacted] (AWS)",
		"AIza" + canary:                                                  "[redacted]",
		"moot_" + canary + "." + canary:                                  "[redacted]",
		"eyJhbGciOiJI." + canary + "." + canary:                          "[redacted]",
		"postgres://ann:" + canary + "@db:5432/shop":                     "postgres://ann:[redacted]@db:5432/shop",
		"Authorization: Bearer " + canary:                                "Authorization: Bearer [redacted]",
		"curl -H 'authorization: basic " + canary + "=='":                "curl -H 'authorization: basic [redacted]'",
		"export API_KEY=" + canary + " && run":                           "export API_KEY=[redacted] && run",
		"MY_SECRET = '" + canary + " and more'":                          "MY_SECRET = [redacted]",
		`{"password": "a\"` + canary + `", "user": "ann"}`:               `{"password": [redacted], "user": "ann"}`,
		"db_password: " + canary + "\nport: 1":                           "db_password: [redacted]\nport: 1",
		"access-key=" + canary + ";x":                                    "access-key=[redacted];x",
		"client_secret => " + canary:                                     "client_secret => [redacted]",
		"-----BEGIN RSA PRIVATE KEY-----\n" + canary + "\n" + canary:     "[redacted]",
		"-----BEGIN PRIVATE KEY-----\na\n-----END PRIVATE KEY-----\nend": "[redacted]\nend",
		"sk-ant-\u200bapi03-" + canary:                                   "[redacted]",
	} {
		if got := secrets.Redact(text); got != want || strings.Contains(got, canary) {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got := secrets.Redact("value "+canary+" and 1", canary, "1"); got != "value [redacted] and 1" {
		t.Errorf("known values: %q", got)
	}
}

// TestRedactKeeps: ordinary text stays as it is.
func TestRedactKeeps(t *testing.T) {
	for _, text := range []string{
		"max_tokens: 4000, tokens_used = 3245", "Password hashing (bcrypt with cost 12)", "the task is basic work", "see https://example.org/a:b@c", "sk-test",
		"keyboard: de, key: value, monkey=1", "ask the owner for a token", "a basic\nunderstanding of it", "ann@example.org",
	} {
		if got := secrets.Redact(text); got != text {
			t.Errorf("%q is %q", text, got)
		}
	}
}

// TestPreview: a preview is one line of at most 200 characters, and a secret at its
// end leaves no beginning.
func TestPreview(t *testing.T) {
	if got := secrets.Preview(" a\n\n\tb\x1b[2J c "); got != "a b c" {
		t.Errorf("%q", got)
	}
	long := strings.Repeat("é", 300)
	if got := secrets.Preview(long); got != strings.Repeat("é", 200)+"…" {
		t.Errorf("%q", got)
	}
	for _, before := range []int{0, 150, 180, 195, 199, 200, 16<<10 - 30, 16<<10 - 10} {
		text := strings.Repeat(" ", before/2) + strings.Repeat("x ", before-before/2)[:before-before/2] + " ghp_" + canary
		if got := secrets.Preview(text); strings.Contains(got, "canary") || utf8.RuneCountInString(got) > 201 {
			t.Errorf("after %d bytes: %q", before, got)
		}
	}
	if got := secrets.Preview("is "+canary+" it?", canary); got != "is [redacted] it?" {
		t.Errorf("known value: %q", got)
	}
}

// FuzzPreview: a credential is not shown, in any text. A control sequence before it
// could remove its beginning; it is then another text.
func FuzzPreview(f *testing.F) {
	f.Add("token: ", "\n")
	f.Add("-----BEGIN PRIVATE KEY-----", "'")
	f.Add(`{"password": "\`, "\x00")
	f.Fuzz(func(t *testing.T, before, after string) {
		got := secrets.Preview(endpoint.Clean(before) + " ghp_" + canary + " " + after)
		if strings.Contains(got, "7canaryZq") {
			t.Errorf("%q", got)
		}
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > secrets.PreviewRunes+1 || strings.ContainsAny(got, "\n\r\x1b") {
			t.Errorf("%q is no preview", got)
		}
	})
}
