package access

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/folkmoot/moot/problem"
)

// A Guard admits requests that come over TCP. It is safe for concurrent use.
type Guard struct {
	Keys  *Keys
	Hosts Hosts

	tries tryCounter
	cross http.CrossOriginProtection
}

// A Credential is what a request has proved. Cookie says that a browser sent it.
// The zero Credential is that of a request without one.
type Credential struct {
	Grant
	Cookie bool
}

// A RetryError says how long a client must wait. It is the Kind of a
// [problem.Error].
type RetryError struct{ After time.Duration }

// Error implements error.
func (e *RetryError) Error() string { return fmt.Sprintf("retry after %v", e.After) }

// Check returns the credential of a request, or why the request is refused. It
// checks the form, the host and the origin of every request first.
func (g *Guard) Check(r *http.Request) (Credential, error) {
	if err := CheckForm(r); err != nil {
		return Credential{}, err
	}
	local, err := localAddr(r)
	if err != nil {
		return Credential{}, err
	}
	if !g.Hosts.allow(r.Host, local, r.TLS != nil) {
		return Credential{}, &problem.Error{Code: "API-HOST", What: fmt.Sprintf("this server does not have the name %.80q", r.Host), Fix: "use the address that `moot serve` prints, or add the name to server.hosts in the settings"}
	}
	if err := g.checkOrigin(r, local); err != nil {
		return Credential{}, err
	}
	return g.credential(r, local)
}

// localAddr returns the address that the request's connection came to.
func localAddr(r *http.Request) (netip.AddrPort, error) {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, errors.New("the connection is not TCP")
	}
	return addr.AddrPort(), nil
}

// checkOrigin refuses requests that a page of another site has caused. Programs
// send no Origin.
func (g *Guard) checkOrigin(r *http.Request, local netip.AddrPort) error {
	origins, sent := r.Header["Origin"]
	if sent && !g.Hosts.allowOrigin(origins[0], local, r.TLS != nil) {
		return foreign(fmt.Sprintf("%.80q", origins[0]))
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" && !isLaunchPage(r) {
		return foreign(fmt.Sprintf("Sec-Fetch-Site: %.20s", site))
	}
	if err := g.cross.Check(r); err != nil {
		return foreign("another site")
	}
	return nil
}

// isLaunchPage reports whether a request is for the page that signs browsers in, to
// which a link in another page may lead. It changes nothing and shows nothing.
func isLaunchPage(r *http.Request) bool { return r.Method == http.MethodGet && r.URL.Path == "/launch" }

func foreign(origin string) error {
	return &problem.Error{Code: "API-ORIGIN", What: "the request comes from a page of another origin: " + origin, Fix: "open the address that `moot serve` prints; pages of other sites may not use this server"}
}

// credential checks the bearer of a request, or its cookie.
func (g *Guard) credential(r *http.Request, local netip.AddrPort) (Credential, error) {
	if header, ok := r.Header["Authorization"]; ok {
		grant, err := g.Keys.CheckHeader(header[0])
		return Credential{Grant: grant}, g.count(r, err)
	}
	var tokens []string
	for _, c := range r.CookiesNamed(CookieName(local.Port())) {
		tokens = append(tokens, c.Value)
	}
	switch {
	case len(tokens) == 0:
		return Credential{}, nil
	case len(tokens) > 1:
		return Credential{}, badForm("the request has several cookies of this server", "remove the cookies of this address in the browser")
	case !sameOrigin(r):
		return Credential{}, foreign("a cookie needs a request of this server's own page")
	}
	grant, err := g.Keys.Check(tokens[0])
	if err != nil && r.URL.Path == "/launch" { // a browser with an old cookie signs in again
		return Credential{}, nil
	}
	return Credential{Grant: grant, Cookie: true}, g.count(r, denied(err))
}

// sameOrigin reports whether a browser says that a page of this server, or the user,
// sent the request. A request that does not say so is not believed.
func sameOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin":
		return true
	case "none":
		return r.Method == http.MethodGet || r.Method == http.MethodHead
	case "":
		_, host, ok := strings.Cut(r.Header.Get("Origin"), "://")
		return ok && strings.EqualFold(host, r.Host)
	}
	return false
}

// CheckHeader is Check for the value of a header Authorization.
func (k *Keys) CheckHeader(value string) (Grant, error) {
	kind, token, _ := strings.Cut(value, " ")
	if !strings.EqualFold(kind, "Bearer") {
		return Grant{}, denied(ErrToken)
	}
	grant, err := k.Check(token)
	return grant, denied(err)
}

// denied makes an error of [Keys.Check] one with a code.
func denied(err error) error {
	if errors.Is(err, ErrToken) || errors.Is(err, ErrExpired) || errors.Is(err, ErrRevoked) {
		return &problem.Error{Code: "API-UNAUTHORIZED", What: err.Error(), Fix: "`moot token new` makes a token", Kind: err}
	}
	return err
}

// count counts a bad credential, and refuses the client when it has sent too many.
// Good ones are not counted.
func (g *Guard) count(r *http.Request, err error) error {
	if err == nil {
		return nil
	}
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	if wait := g.tries.add(from.Addr(), time.Now()); wait > 0 {
		return &problem.Error{Code: "API-TRIES", What: "too many bad credentials from this address", Fix: "wait a minute, or send a valid token", Kind: &RetryError{After: wait}}
	}
	return err
}

// Exchange is [Launcher.Exchange] for a request: wrong codes count as bad
// credentials.
func (g *Guard) Exchange(r *http.Request, l *Launcher, code string) (string, Grant, error) {
	token, grant, err := l.Exchange(code)
	if errors.Is(err, ErrCode) {
		err = &problem.Error{Code: "API-LAUNCH", What: err.Error(), Fix: "run `moot serve --open` again", Kind: err}
	}
	return token, grant, g.count(r, err)
}

// Spectator returns the grant of a token with which a browser may sign in more than once:
// one that only reads, in one room. Others are refused, and count as bad credentials.
func (g *Guard) Spectator(r *http.Request, token string) (Grant, error) {
	grant, err := g.Keys.Check(token)
	if err = denied(err); err == nil && (grant.Scope != Read || grant.Room == "") {
		err = &problem.Error{Code: "API-LAUNCH", What: "a link signs a browser in only to read one room", Fix: "make a token with --scope read --room ROOM, or run `moot serve --open`"}
	}
	return grant, g.count(r, err)
}
