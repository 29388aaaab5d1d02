// Package secrets removes what is probably a secret from texts that lists, audits
// and histories show.
//
// It knows the forms of common credentials: the prefixes of the tokens of well-known
// services, private keys, passwords in addresses, and values that stand behind a
// name such as API_KEY or Authorization. It cannot know a secret without such a
// form. So it protects what is shown in passing, and replaces no access control.
package secrets

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// Mark takes the place of a secret.
const Mark = "[redacted]"

// minKnown is the length from which a known value is a secret. Shorter ones, such as
// "1" and "true", are in many texts.
const minKnown = 6

// blocks are private keys and certificates in the PEM form (RFC 7468), also without
// their end.
var blocks = regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`)

// tokens are credentials that are known by their beginning: of OpenAI and Anthropic,
// GitHub, GitLab, Slack, AWS, Google, npm, Hugging Face and Stripe, the JSON Web
// Token (RFC 7519), and those of moot.
var tokens = regexp.MustCompile(`\b(?:` + strings.Join([]string{
	`sk-[A-Za-z0-9_-]{16,}`, `gh[opsur]_[A-Za-z0-9]{20,}`, `github_pat_[A-Za-z0-9_]{20,}`, `glpat-[A-Za-z0-9_-]{16,}`,
	`xox[a-z]-[A-Za-z0-9-]{10,}`, `A(?:KIA|SIA)[A-Z0-9]{16}`, `AIza[A-Za-z0-9_-]{30,}`, `ya29\.[A-Za-z0-9_-]{16,}`,
	`npm_[A-Za-z0-9]{30,}`, `hf_[A-Za-z0-9]{20,}`, `[rs]k_(?:live|test)_[A-Za-z0-9]{16,}`,
	`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`, `moot_[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`,
}, "|") + `)`)

// addresses are URLs with a password.
var addresses = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:)[^\s/@]+@`)

// schemes are the credentials of an HTTP header.
var schemes = regexp.MustCompile(`(?i)\b(authorization["']?\s*[:=]\s*["']?[a-z]+[ \t]+|bearer[ \t]+[A-Za-z0-9+/_.~=-]{8})[A-Za-z0-9+/_.~=-]{8,}`)

// named are values behind the name of a secret: in a command, an environment, a
// header, JSON or YAML.
var named = regexp.MustCompile(`(?i)((?:[A-Za-z0-9_-]*(?:api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|auth[_-]?key|signing[_-]?key|encryption[_-]?key|secret|token|passwd|password|passphrase|credentials?))["']?\s*(?:=>|:=|:|=)\s*)` +
	`("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;"'{}\[\]()]+)`)

// Redact returns text, cleaned as by [endpoint.Clean], without what is probably a
// secret, and without the known values. Invisible characters could part a secret.
func Redact(text string, known ...string) string {
	text = endpoint.Clean(text)
	for _, v := range known {
		if len(v) >= minKnown {
			text = strings.ReplaceAll(text, v, Mark)
		}
	}
	text = blocks.ReplaceAllString(text, Mark)
	text = tokens.ReplaceAllString(text, Mark)
	text = addresses.ReplaceAllString(text, "${1}"+Mark+"@")
	text = schemes.ReplaceAllStringFunc(text, func(m string) string { return m[:strings.LastIndexAny(m, " \t")+1] + Mark })
	return named.ReplaceAllString(text, "${1}"+Mark)
}

// PreviewRunes is the length of a preview, in characters.
const PreviewRunes = 200

// previewed is how much of a text a preview is made of, in bytes.
const previewed = 16 << 10

// Preview returns the beginning of text on one line, at most PreviewRunes characters
// and an ellipsis, without secrets. It redacts before it cuts: the part of a secret
// that would be left has no form.
func Preview(text string, known ...string) string {
	if len(text) > previewed {
		text = text[:previewed]
		text = strings.TrimRightFunc(text, func(r rune) bool { return !unicode.IsSpace(r) }) // the last word is cut, and has lost its form
	}
	return endpoint.CleanLine(Redact(text, known...), PreviewRunes)
}
