package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/problem"
)

// A Grant is what a token allows. The token itself carries it.
type Grant struct {
	ID    string `json:"id"`
	Name  string `json:"name"` // for people: whose token it is
	Scope Scope  `json:"scope"`
	// Room limits the token to one room; Seat makes its bearer act as that seat.
	Room string `json:"room,omitempty"`
	Seat string `json:"seat,omitempty"`
	// Expires is the end of the token. Zero is never.
	Expires time.Time `json:"expires,omitzero"`
}

// Errors of [Keys.Check].
var (
	ErrToken   = errors.New("the token is not valid")
	ErrExpired = errors.New("the token has expired")
	ErrRevoked = errors.New("the token is revoked")
)

const (
	prefix   = "moot_"
	maxToken = 1 << 10 // bytes
	// purpose separates these MACs from others that the key may be used for.
	purpose = "moot bearer token 1\x00"
)

var encoding = base64.RawURLEncoding.Strict()

// seal returns the token that carries g.
func seal(key []byte, g Grant) (string, error) {
	b, err := json.Marshal(g)
	if err != nil {
		return "", err
	}
	payload := encoding.EncodeToString(b)
	token := prefix + payload + "." + encoding.EncodeToString(mac(key, payload))
	if len(token) > maxToken {
		return "", &problem.Error{Code: "TOKEN-SCOPE", What: "the name, room and seat of a token are too long", Fix: "choose a shorter name"}
	}
	return token, nil
}

// unseal returns what a token carries. It compares the MAC in constant time, and
// decodes the payload only after that.
func unseal(key []byte, token string) (Grant, error) {
	rest, ok := strings.CutPrefix(token, prefix)
	if !ok || len(token) > maxToken {
		return Grant{}, ErrToken
	}
	payload, sum, ok := strings.Cut(rest, ".")
	got, err := encoding.DecodeString(sum)
	if !ok || err != nil || !hmac.Equal(got, mac(key, payload)) {
		return Grant{}, ErrToken
	}
	return decodeGrant(payload)
}

func decodeGrant(payload string) (g Grant, err error) {
	b, err := encoding.DecodeString(payload)
	if err == nil {
		err = strict.Decode(b, 1, &g)
	}
	if err != nil || g.check() != nil {
		return Grant{}, ErrToken
	}
	return g, nil
}

func mac(key []byte, payload string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose))
	h.Write([]byte(payload))
	return h.Sum(nil)
}

// check reports a grant that is incomplete.
func (g Grant) check() error {
	what := ""
	switch {
	case g.ID == "" || g.Name == "":
		what = "a token needs a name"
	case g.Scope < Read || g.Scope > Admin:
		what = "a token needs a scope"
	case g.Seat != "" && g.Room == "":
		what = "a token for a seat needs the room of the seat"
	case g.Room != "" && g.Scope == Admin:
		what = "a token for one room has at most the scope control"
	default:
		return nil
	}
	return &problem.Error{Code: "TOKEN-SCOPE", What: what, Fix: "`moot token new --help` explains the scopes"}
}

func (g Grant) expired(now time.Time) bool { return !g.Expires.IsZero() && !now.Before(g.Expires) }

// random returns n random bytes as text.
func random(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return encoding.EncodeToString(b)
}

// maxLifetime is the longest lifetime that a token may state.
const maxLifetime = 10 * 366 * 24 * time.Hour

// ParseExpiry returns the time at which a token that is issued now ends. The lifetime
// is a duration such as 90m or 24h, or a number of days such as 30d; "" is no end.
func ParseExpiry(lifetime string, now time.Time) (time.Time, error) {
	if lifetime == "" {
		return time.Time{}, nil
	}
	d, err := time.ParseDuration(lifetime)
	if days, ok := strings.CutSuffix(lifetime, "d"); ok {
		n, badNumber := strconv.ParseUint(days, 10, 12)
		d, err = time.Duration(n)*24*time.Hour, badNumber
	}
	if err != nil || d < time.Second || d > maxLifetime {
		return time.Time{}, &problem.Error{Code: "TOKEN-SCOPE", What: fmt.Sprintf("%.20q is no lifetime of a token", lifetime), Fix: "write it as 90m, 24h or 30d"}
	}
	return now.Add(d), nil
}
