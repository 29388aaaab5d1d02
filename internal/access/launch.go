package access

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Lifetimes of a launch code and of the cookie that it is exchanged for.
const (
	LaunchTime = time.Minute
	CookieTime = 12 * time.Hour
)

// maxCodes is how many launch codes may wait at the same time.
const maxCodes = 32

// ErrCode is the error of a launch code that is unknown, used or too old.
var ErrCode = errors.New("the launch code is unknown, used or older than a minute")

// A Launcher signs browsers in: it exchanges a code, which works once and for a
// minute, for a cookie. Only digests of codes are kept. Launcher is safe for
// concurrent use.
type Launcher struct {
	keys *Keys

	mu    sync.Mutex
	codes map[[sha256.Size]byte]launch
}

type launch struct {
	grant Grant
	until time.Time
}

// NewLauncher returns a Launcher whose cookies hold tokens of keys.
func NewLauncher(keys *Keys) *Launcher {
	return &Launcher{keys: keys, codes: map[[sha256.Size]byte]launch{}}
}

// Code returns a new code for a browser that may do what g says.
func (l *Launcher) Code(g Grant) (string, error) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for digest, c := range l.codes {
		if !now.Before(c.until) {
			delete(l.codes, digest)
		}
	}
	if len(l.codes) >= maxCodes {
		return "", errors.New("too many launch codes wait for a browser")
	}
	code := random(32)
	l.codes[sha256.Sum256([]byte(code))] = launch{grant: g, until: now.Add(LaunchTime)}
	return code, nil
}

// Exchange uses up a code and returns the token of the browser's cookie.
func (l *Launcher) Exchange(code string) (string, Grant, error) {
	digest := sha256.Sum256([]byte(code)) // so that the lookup's time says nothing of other codes
	now := time.Now()
	l.mu.Lock()
	c, ok := l.codes[digest]
	delete(l.codes, digest)
	l.mu.Unlock()
	if !ok || !now.Before(c.until) {
		return "", Grant{}, ErrCode
	}
	c.grant.Expires = now.Add(CookieTime)
	return l.keys.Mint(c.grant)
}

// CookieName is the name of the cookie of a server at port. Browsers send cookies
// to all ports of a host, so that servers need different names.
func CookieName(port uint16) string { return "moot_" + strconv.Itoa(int(port)) }

// Cookie returns the cookie with a browser's token, which scripts cannot read and
// other sites cannot use.
func Cookie(port uint16, token string, secure bool) *http.Cookie {
	return &http.Cookie{
		Name: CookieName(port), Value: token, Path: "/", MaxAge: int(CookieTime / time.Second),
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode,
	}
}
