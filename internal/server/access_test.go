package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/server"
)

// openRoutes are the routes that need no credential.
var openRoutes = []string{"GET /healthz", "GET /launch", "POST /launch"}

// do sends a request to a route, with values for the names in its path.
func (x *secured) do(t *testing.T, r server.Route, token string) *http.Response {
	t.Helper()
	path := strings.NewReplacer("{room}", "r_other", "{seat}", "other", "{id}", "r_other").Replace(r.Path)
	for strings.Contains(path, "{") {
		i, j := strings.IndexByte(path, '{'), strings.IndexByte(path, '}')
		path = path[:i] + "x" + path[j+1:]
	}
	var body io.Reader
	if r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		body = strings.NewReader(`{"message":"x"}`) // as a session takes it
	}
	req, err := http.NewRequestWithContext(t.Context(), r.Method, x.web.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func (x *secured) mint(t *testing.T, g access.Grant) string {
	t.Helper()
	g.Name = "test"
	token, _, err := x.keys.Mint(g)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// TestRoutes calls every route of the table: without a credential, with the scope
// below the one that it needs, and with a token of another room.
func TestRoutes(t *testing.T) {
	x := newSecured(t, "")
	var open []string
	for _, r := range x.Routes() {
		name := r.Method + " " + r.Path
		if r.Need == server.Nobody {
			open = append(open, name)
			continue
		}
		if resp := x.do(t, r, ""); resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s without a credential: %s", name, resp.Status)
		}
		for scope := server.Read; scope < r.Need; scope++ {
			if resp := x.do(t, r, x.mint(t, access.Grant{Scope: scope})); resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s with the scope %s: %s", name, scope, resp.Status)
			}
		}
		if !strings.Contains(r.Path, "{room}") && !strings.HasPrefix(r.Path, "/api/sessions/") {
			continue
		}
		grant := access.Grant{Scope: server.Control, Room: "r_mine"}
		if resp := x.do(t, r, x.mint(t, grant)); resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s with a token of another room: %s", name, resp.Status)
		}
		if strings.Contains(r.Path, "{seat}") {
			grant = access.Grant{Scope: server.Control, Room: "r_other", Seat: "mine"}
			if resp := x.do(t, r, x.mint(t, grant)); resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s with a token of another seat: %s", name, resp.Status)
			}
		}
	}
	slices.Sort(open)
	if !slices.Equal(open, openRoutes) {
		t.Errorf("the routes %q need no credential, want %q", open, openRoutes)
	}
}

// TestHeaders checks what every response tells browsers, refusals too.
func TestHeaders(t *testing.T) {
	x := newSecured(t, "")
	for path, token := range map[string]string{"/api/caller": x.token, "/healthz": "", "/api/none": "", "/launch": ""} {
		resp := x.do(t, server.Route{Method: http.MethodGet, Path: path}, token)
		csp := resp.Header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") ||
			resp.Header.Get("X-Content-Type-Options") != "nosniff" || resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", path, resp.Header)
		}
	}
}

// browser is a request of the page that the server shows.
func (x *secured) browser(t *testing.T, method, path, body string, cookies ...*http.Cookie) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, x.web.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Origin", x.web.URL)
	}
	for _, c := range cookies {
		req.AddCookie(c)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// TestLaunch signs a browser in with an address that works once, and uses the cookie.
func TestLaunch(t *testing.T) {
	x := newSecured(t, "")
	c := client.New(client.Config{URL: x.web.URL, Token: x.token})
	var l api.Launch
	if err := c.Call(t.Context(), http.MethodPost, "/api/launches", api.NewLaunch{Scope: "control"}, &l); err != nil {
		t.Fatal(err)
	}
	page, code, ok := strings.Cut(l.URL, "#")
	if !ok || page != x.web.URL+"/launch" {
		t.Fatalf("the address is %s", l.URL)
	}
	for range 2 { // a preview of the page does not use up the code
		if resp := x.browser(t, http.MethodGet, "/launch", ""); resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status)
		}
	}
	body, _ := json.Marshal(api.LaunchCode{Code: code})
	resp := x.browser(t, http.MethodPost, "/launch", string(body))
	cookies := resp.Cookies()
	if resp.StatusCode != http.StatusOK || len(cookies) != 1 {
		t.Fatalf("%s, cookies %v", resp.Status, cookies)
	}
	if set := resp.Header.Get("Set-Cookie"); !strings.Contains(set, "HttpOnly") || !strings.Contains(set, "SameSite=Strict") || !strings.Contains(set, "Path=/") {
		t.Error(set)
	}
	if resp := x.browser(t, http.MethodPost, "/launch", string(body)); resp.StatusCode != http.StatusUnauthorized || len(resp.Cookies()) > 0 {
		t.Errorf("the code works again: %s", resp.Status)
	}
	var who api.Caller
	resp = x.browser(t, http.MethodGet, "/api/caller", "", cookies...)
	if err := json.NewDecoder(resp.Body).Decode(&who); err != nil || who.Scope != "control" || who.Via != "page" {
		t.Errorf("%s: %+v, %v", resp.Status, who, err)
	}
	if resp := x.browser(t, http.MethodGet, "/api/tokens", "", cookies...); resp.StatusCode != http.StatusForbidden {
		t.Errorf("the cookie of the scope control lists tokens: %s", resp.Status)
	}
}

// TestSpectatorLink signs browsers in with the token of a spectator more than once, until
// it is revoked, and never with a token that may do more.
func TestSpectatorLink(t *testing.T) {
	x := newSecured(t, "")
	enter := func(token string, cookies ...*http.Cookie) *http.Response {
		body, _ := json.Marshal(api.LaunchCode{Token: token})
		return x.browser(t, http.MethodPost, "/launch", string(body), cookies...)
	}
	link, issued, err := x.keys.Issue(access.Grant{Name: "friends", Scope: access.Read, Room: "r_1"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		resp := enter(link)
		var in api.Launched
		if err := json.NewDecoder(resp.Body).Decode(&in); err != nil || in.Room != "r_1" || len(resp.Cookies()) != 1 {
			t.Fatalf("%s: %+v, %v, cookies %v", resp.Status, in, err, resp.Cookies())
		}
		var who api.Caller
		resp = x.browser(t, http.MethodGet, "/api/caller", "", resp.Cookies()...)
		if err := json.NewDecoder(resp.Body).Decode(&who); err != nil || who.Scope != "read" || who.Room != "r_1" {
			t.Errorf("%s: %+v, %v", resp.Status, who, err)
		}
	}
	port, _ := strconv.Atoi(x.web.URL[strings.LastIndexByte(x.web.URL, ':')+1:])
	owner := access.Cookie(uint16(port), x.mint(t, access.Grant{Scope: access.Control}), false)
	if resp := enter(link, owner); resp.StatusCode != http.StatusOK || len(resp.Cookies()) > 0 {
		t.Errorf("the link takes the owner's cookie: %s, %v", resp.Status, resp.Cookies())
	}
	stale := &http.Cookie{Name: owner.Name, Value: "moot_of.another"}
	if resp := enter(link, stale); resp.StatusCode != http.StatusOK || len(resp.Cookies()) != 1 {
		t.Errorf("with the cookie of another server: %s", resp.Status)
	}
	for name, g := range map[string]access.Grant{"of all rooms": {Scope: access.Read}, "that may talk": {Scope: access.Talk, Room: "r_1"}} {
		if resp := enter(x.mint(t, g)); resp.StatusCode != http.StatusUnauthorized || len(resp.Cookies()) > 0 {
			t.Errorf("a token %s: %s, %v", name, resp.Status, resp.Cookies())
		}
	}
	if err := x.keys.Revoke(issued.ID); err != nil {
		t.Fatal(err)
	}
	if resp := enter(link); resp.StatusCode != http.StatusUnauthorized || len(resp.Cookies()) > 0 {
		t.Errorf("a revoked link: %s", resp.Status)
	}
}

// TestTries checks that the eleventh bad token of a minute gets 429, on loopback too,
// and that good ones are never refused.
func TestTries(t *testing.T) {
	x := newSecured(t, "")
	caller := server.Route{Method: http.MethodGet, Path: "/api/caller"}
	for i := range 30 {
		want := http.StatusUnauthorized
		if i >= 10 {
			want = http.StatusTooManyRequests
		}
		resp := x.do(t, caller, "moot_bad.bad")
		if resp.StatusCode != want || want == http.StatusTooManyRequests && resp.Header.Get("Retry-After") == "" {
			t.Errorf("try %d: %s", i+1, resp.Status)
		}
		if resp := x.do(t, caller, x.token); resp.StatusCode != http.StatusOK {
			t.Errorf("a good token after %d bad ones: %s", i+1, resp.Status)
		}
	}
	if resp := x.do(t, caller, ""); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %s", resp.Status)
	}
	body := `{"code":"guess"}`
	if resp := x.browser(t, http.MethodPost, "/launch", body); resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a launch code is guessed: %s", resp.Status)
	}
}

// TestTokenRoutes issues, lists, uses and revokes a token.
func TestTokenRoutes(t *testing.T) {
	x := newSecured(t, "")
	c := client.New(client.Config{URL: x.web.URL, Token: x.token})
	var made api.Token
	if err := c.Call(t.Context(), http.MethodPost, "/api/tokens", api.NewToken{Name: "ci", Scope: "talk", Room: "r_1", Seat: "bot", Expires: "24h"}, &made); err != nil {
		t.Fatal(err)
	}
	var who api.Caller
	own := client.New(client.Config{URL: x.web.URL, Token: made.Token})
	if err := own.Call(t.Context(), http.MethodGet, "/api/caller", nil, &who); err != nil {
		t.Fatal(err)
	}
	if want := (api.Caller{Name: "ci", Scope: "talk", Room: "r_1", Seat: "bot", Session: "r_1.bot", Via: "http"}); who != want {
		t.Errorf("%+v, want %+v", who, want)
	}
	var list []api.Token
	if err := c.Call(t.Context(), http.MethodGet, "/api/tokens", nil, &list); err != nil || len(list) != 1 || list[0].Token != "" || list[0].ID != made.ID {
		t.Errorf("%+v, %v", list, err)
	}
	if err := c.Call(t.Context(), http.MethodDelete, "/api/tokens/"+made.ID, nil, nil); err != nil {
		t.Fatal(err)
	}
	if got := codeOf(own.Call(t.Context(), http.MethodGet, "/api/caller", nil, nil)); got != "API-UNAUTHORIZED" {
		t.Errorf("the revoked token: %q", got)
	}
	for code, n := range map[string]api.NewToken{
		"TOKEN-SCOPE": {Name: "x", Scope: "admin", Room: "r_1"},
		"API-REQUEST": {Name: "x", Scope: "root"},
	} {
		if got := codeOf(c.Call(t.Context(), http.MethodPost, "/api/tokens", n, nil)); got != code {
			t.Errorf("%+v: %q, want %s", n, got, code)
		}
	}
	if got := codeOf(c.Call(t.Context(), http.MethodDelete, "/api/tokens/ci", nil, nil)); got != "TOKEN-UNKNOWN" {
		t.Errorf("a name for an id: %q", got)
	}
}

// TestSocket checks that on the socket a bearer decides, if there is one.
func TestSocket(t *testing.T) {
	x := newSecured(t, "")
	web := httptest.NewServer(x.SocketHandler()) // the handler is the same on a socket
	defer web.Close()
	call := func(token string) (who api.Caller, err error) {
		err = client.New(client.Config{URL: web.URL, Token: token}).Call(t.Context(), http.MethodGet, "/api/caller", nil, &who)
		return who, err
	}
	if who, err := call(""); err != nil || who.Scope != "admin" || who.Via != "socket" {
		t.Errorf("%+v, %v", who, err)
	}
	if who, err := call(x.mint(t, access.Grant{Scope: access.Talk, Room: "r_1", Seat: "bot"})); err != nil || who.Scope != "talk" || who.Seat != "bot" {
		t.Errorf("%+v, %v", who, err)
	}
	if who, err := call("moot_bad.bad"); codeOf(err) != "API-UNAUTHORIZED" {
		t.Errorf("a bad bearer is %+v, %v", who, err)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+"/api/caller", nil)
	req.Header.Set("Origin", web.URL)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("a browser reaches the socket: %s", resp.Status)
	}
}

// deadlines notes the read deadline of a connection.
type deadlines struct {
	*httptest.ResponseRecorder
	set  int
	last time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.set++
	d.last = t
	return nil
}

// TestNoDeadlineStays checks that the deadline for a body does not end a request that
// takes longer: net/http cancels a request when a read of its connection times out.
func TestNoDeadlineStays(t *testing.T) {
	x := newSecured(t, "")
	h := x.Handler(server.LocalUser)
	for _, r := range x.Routes() {
		if r.Method != http.MethodPost || !strings.HasPrefix(r.Path, "/api/") {
			continue
		}
		req := httptest.NewRequest(r.Method, strings.NewReplacer("{", "", "}", "").Replace(r.Path), strings.NewReader(`{"name":"x","scope":"read"}`))
		req.Header.Set("Content-Type", "application/json")
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		h.ServeHTTP(w, req)
		if w.set == 0 || !w.last.IsZero() {
			t.Errorf("%s: %d deadlines, the last %v, status %d", r.Path, w.set, w.last, w.Code)
		}
	}
}

// TestSlowHeader checks that a client that sends its header slowly is disconnected
// (slowloris). The server under test differs in its time only.
func TestSlowHeader(t *testing.T) {
	x := newSecured(t, "")
	if s := x.web.Config; s.ReadHeaderTimeout != 5*time.Second || s.MaxHeaderBytes != 32<<10 || s.IdleTimeout <= 0 {
		t.Errorf("the limits are %v, %d, %v", s.ReadHeaderTimeout, s.MaxHeaderBytes, s.IdleTimeout)
	}
	web := httptest.NewUnstartedServer(nil)
	web.Config = access.NewHTTPServer(x.TCPHandler(access.Hosts{}))
	web.Config.ReadHeaderTimeout = 20 * time.Millisecond
	web.Start()
	defer web.Close()
	c, err := net.Dial("tcp", web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET /api/caller HTTP/1.1\r\nHost: "); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(c) // ends when the server closes the connection
	if bytes.Contains(rest, []byte("200")) {
		t.Errorf("%s, %v", rest, err)
	}
}
