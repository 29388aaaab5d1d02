package webclient

import (
	"strings"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// MaxReason bounds the words of a server in errors and reasons, in characters.
const MaxReason = 500

// A Secret is the token that a server gets, and the word that takes its place in
// texts of that server.
type Secret struct{ Token, Word string }

// minSecret is the length from which a token is a secret. Servers that check none
// are often given a word such as ollama, which texts may have.
const minSecret = 16

// Redact replaces the token in a text.
func (s Secret) Redact(text string) string {
	if len(s.Token) < minSecret {
		return text
	}
	return strings.ReplaceAll(text, s.Token, s.Word)
}

// Clean returns words of the server for a message to people: one bounded line
// without the token.
func (s Secret) Clean(text string) string {
	return endpoint.CleanLine(s.Redact(endpoint.Clean(text)), MaxReason) // invisible characters could part a token
}

// Words returns the text of an error as Clean does, without the prefix that says
// which of endpoint's errors it is.
func (s Secret) Words(err error) string {
	text := err.Error()
	for _, kind := range []error{endpoint.ErrTooLarge, endpoint.ErrProtocol, endpoint.ErrAgent} {
		text = strings.ReplaceAll(text, kind.Error()+": ", "")
	}
	return s.Clean(text)
}
