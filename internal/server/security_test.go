package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/server"
)

// secured is a server on TCP as `moot serve` has one, with no rooms.
type secured struct {
	*server.Server
	keys  *access.Keys
	web   *httptest.Server
	addr  string // host:port
	port  string
	token string // of the scope admin
}

func newSecured(t *testing.T, hosts string) *secured {
	t.Helper()
	dir := t.TempDir()
	h, err := moot.Open(moot.Config{Data: dir, Cache: compiled()})
	if err != nil {
		t.Fatal(err)
	}
	x := &secured{}
	if x.keys, err = access.OpenKeys(dir + "/server"); err != nil {
		t.Fatal(err)
	}
	if x.token, err = x.keys.AdminToken(); err != nil {
		t.Fatal(err)
	}
	names, err := access.ParseHosts(hosts)
	if err != nil {
		t.Fatal(err)
	}
	x.Server = server.New(server.Config{Host: h, Keys: x.keys, URL: func() string { return x.web.URL }})
	x.web = httptest.NewUnstartedServer(nil)
	x.web.Config = access.NewHTTPServer(x.TCPHandler(names))
	x.web.Start()
	x.addr = x.web.Listener.Addr().String()
	_, x.port, _ = net.SplitHostPort(x.addr)
	t.Cleanup(func() {
		x.web.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// A hostile is a request that must be refused, byte for byte. ADDR, PORT and TOKEN
// are replaced; lines end in \r\n.
type hostile struct {
	name string
	want int
	raw  string
}

const bearer = "Authorization: Bearer TOKEN\n"

// get is a request for what the caller is, with a valid token.
func get(name string, want int, host, more string) hostile {
	return hostile{name, want, "GET /api/caller HTTP/1.1\nHost: " + host + "\n" + bearer + more + "\n"}
}

// target is a get of another request target.
func target(name string, want int, target string) hostile {
	return hostile{name, want, "GET " + target + " HTTP/1.1\nHost: ADDR\n" + bearer + "\n"}
}

const newToken = `{"name":"x","scope":"admin"}`

// post is a request that makes a token, with a valid token.
func post(name string, want int, headers, body string) hostile {
	return hostile{name, want, fmt.Sprintf("POST /api/tokens HTTP/1.1\nHost: ADDR\n"+bearer+"Content-Length: %d\n%s\n%s", len(body), headers, body)}
}

const asJSON = "Content-Type: application/json\n"

// with is a get without a token but with other headers.
func with(name string, want int, headers string) hostile {
	return hostile{name, want, "GET /api/caller HTTP/1.1\nHost: ADDR\n" + headers + "\n"}
}

// The statuses are those of package api: 400 API-FORM and API-REQUEST, 401 API-UNAUTHORIZED, 403
// API-HOST and API-ORIGIN, 415 API-MEDIA and so on.
func hostiles() []hostile {
	var all []hostile
	for _, list := range [][]hostile{hostileHosts, hostileOrigins, hostileCredentials, hostilePaths, hostileMethods, hostileBodies} {
		all = append(all, list...)
	}
	return all
}

var hostileHosts = []hostile{
	get("CVE-2024-28224 (Ollama): a name that points to this machine, DNS rebinding", 403, "rebind.evil.example:PORT", ""),
	get("CVE-2025-49596 (MCP Inspector): 0.0.0.0", 403, "0.0.0.0:PORT", ""),
	get("OpenClaw #42507: a name that begins with 127.", 403, "127.evil.com:PORT", ""),
	get("a name that begins with the address", 403, "127.0.0.1.evil.com:PORT", ""),
	get("a name that ends in localhost", 403, "evil.localhost:PORT", ""),
	get("a name that begins with localhost", 403, "localhost.evil.com:PORT", ""),
	get("localhost with a final dot", 403, "localhost.:PORT", ""),
	get("another loopback address", 403, "127.0.0.2:PORT", ""),
	get("the address as one number", 403, "2130706433:PORT", ""),
	get("the address in hexadecimal", 403, "0x7f.0.0.1:PORT", ""),
	get("the address in octal", 403, "0177.0.0.1:PORT", ""),
	get("the address, shortened", 403, "127.1:PORT", ""),
	get("the address mapped to IPv6", 403, "[::ffff:127.0.0.1]:PORT", ""),
	get("IPv6 loopback with a zone", 403, "[::1%25lo]:PORT", ""),
	get("the unspecified IPv6 address", 403, "[::]:PORT", ""),
	get("an open bracket", 403, "[127.0.0.1:PORT", ""),
	get("another port", 403, "127.0.0.1:1", ""),
	get("no port", 403, "127.0.0.1", ""),
	get("port 0", 403, "127.0.0.1:0", ""),
	get("a port with a leading zero", 403, "127.0.0.1:0PORT", ""),
	get("an empty port", 403, "127.0.0.1:", ""),
	get("a port that is no number", 403, "127.0.0.1:http", ""),
	get("a user name", 400, "evil@127.0.0.1:PORT", ""),
	get("an empty host", 400, "", ""),
	get("two headers Host", 400, "ADDR\nHost: evil.example", ""),
	get("X-Forwarded-Host is not believed", 403, "evil.example:PORT", "X-Forwarded-Host: ADDR\nForwarded: host=ADDR\n"),
	{"HTTP/1.1 without Host", 400, "GET /api/caller HTTP/1.1\n" + bearer + "\n"},
	{"HTTP/1.0 without Host", 400, "GET /api/caller HTTP/1.0\n" + bearer + "\n"},
	{"HTTP/1.0 with another Host", 403, "GET /api/caller HTTP/1.0\nHost: evil.example:PORT\n" + bearer + "\n"},
}

var hostileOrigins = []hostile{
	get("CVE-2026-25253 (OpenClaw): a page of another site", 403, "ADDR", "Origin: https://evil.example\n"),
	get("origin null, of a sandboxed frame or a file", 403, "ADDR", "Origin: null\n"),
	get("an empty origin", 403, "ADDR", "Origin: \n"),
	get("OpenCoven PR #145: an origin that begins with the address", 403, "ADDR", "Origin: http://127.0.0.1.evil.com\n"),
	get("an origin that begins with 127.", 403, "ADDR", "Origin: http://127.evil.com:PORT\n"),
	get("an origin that ends in the address", 403, "ADDR", "Origin: http://evil.com/ADDR\n"),
	get("the origin with another port", 403, "ADDR", "Origin: http://127.0.0.1:1\n"),
	get("the origin without its port", 403, "ADDR", "Origin: http://127.0.0.1\n"),
	get("the origin with another scheme", 403, "ADDR", "Origin: https://ADDR\n"),
	get("the origin with a path", 403, "ADDR", "Origin: http://ADDR/\n"),
	get("the origin with a user name", 403, "ADDR", "Origin: http://x@ADDR\n"),
	get("a file", 403, "ADDR", "Origin: file://\n"),
	get("a browser extension", 403, "ADDR", "Origin: chrome-extension://abcdefghijklmnop\n"),
	get("two origins in one header", 403, "ADDR", "Origin: http://ADDR, https://evil.example\n"),
	get("two headers Origin", 400, "ADDR", "Origin: http://ADDR\nOrigin: https://evil.example\n"),
	get("an image or script of another site", 403, "ADDR", "Sec-Fetch-Site: cross-site\n"),
	get("a page on another port of this machine", 403, "ADDR", "Sec-Fetch-Site: same-site\n"),
	get("a fetch site that does not exist", 403, "ADDR", "Sec-Fetch-Site: trusted\n"),
	post("CVE-2026-44211 (Cline Kanban): a POST of another site", 403, asJSON+"Origin: https://evil.example\nSec-Fetch-Site: cross-site\n", newToken),
	post("a POST of another site without Origin", 403, asJSON+"Sec-Fetch-Site: cross-site\n", newToken),
	post("a POST of the same page under its other name", 403, asJSON+"Origin: http://localhost:PORT\n", newToken),
	get("CVE-2026-44211 (Cline Kanban): a WebSocket of another site", 403, "ADDR", webSocket+"Origin: https://evil.example\n"),
	get("a WebSocket of a sandboxed frame", 403, "ADDR", webSocket+"Origin: null\n"),
	{"a WebSocket without a token", 401, "GET /api/caller HTTP/1.1\nHost: ADDR\n" + webSocket + "\n"},
	{"a WebSocket with the token as its protocol", 401, "GET /api/caller HTTP/1.1\nHost: ADDR\n" + webSocket + "Sec-WebSocket-Protocol: bearer, TOKEN\n\n"},
	get("a WebSocket to a name that points here", 403, "rebind.evil.example:PORT", webSocket+"Origin: http://rebind.evil.example:PORT\n"),
	{"a preflight request", 405, "OPTIONS /api/tokens HTTP/1.1\nHost: ADDR\nOrigin: http://ADDR\nAccess-Control-Request-Method: POST\nAccess-Control-Request-Headers: authorization\n\n"},
}

const webSocket = "Connection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n"

var hostileCredentials = []hostile{
	with("CVE-2026-22812 (opencode): no credential", 401, ""),
	with("CVE-2026-10281: an empty token", 401, "Authorization: Bearer \n"),
	with("an empty header", 401, "Authorization:\n"),
	with("another scheme", 401, "Authorization: Basic dXNlcjpwYXNz\n"),
	with("a token without its scheme", 401, "Authorization: TOKEN\n"),
	with("two spaces before the token", 401, "Authorization: Bearer  TOKEN\n"),
	with("text after the token", 401, "Authorization: Bearer TOKEN x\n"),
	with("two headers Authorization", 400, bearer+bearer),
	with("a bad header Authorization and a good one", 400, "Authorization: Bearer x\n"+bearer),
	with("the token in another header", 401, "X-Api-Key: TOKEN\nProxy-Authorization: Bearer TOKEN\nX-Auth-Token: TOKEN\n"),
	with("the token in a cookie without a page of this server", 403, "Cookie: moot_PORT=TOKEN\n"),
	with("the token in a cookie from another site", 403, "Cookie: moot_PORT=TOKEN\nSec-Fetch-Site: cross-site\n"),
	with("the token in a cookie from another port", 403, "Cookie: moot_PORT=TOKEN\nSec-Fetch-Site: same-site\n"),
	with("the token in a cookie with another origin", 403, "Cookie: moot_PORT=TOKEN\nOrigin: http://evil.example\nSec-Fetch-Site: same-origin\n"),
	with("two cookies", 400, "Cookie: moot_PORT=TOKEN; moot_PORT=x\nSec-Fetch-Site: same-origin\n"),
	with("a cookie of another server on this machine", 401, "Cookie: moot_1=TOKEN\nSec-Fetch-Site: same-origin\n"),
	with("a token without its MAC", 401, "Authorization: Bearer UNSIGNED\n"),
	with("a token of another key", 401, "Authorization: Bearer FOREIGN\n"),
	with("the header of requests that another process of this user forwards", 401, "Moot-Caller: {\"Name\":\"x\",\"Scope\":\"admin\"}\n"),
	with("OpenClaw GHSA-rqpp-rjj8-7wv8: scopes that the client declares", 401, "X-Scope: admin\nX-Moot-Scope: admin\nX-Forwarded-User: root\n"),
}

var hostilePaths = []hostile{
	target("the token in the query", 400, "/api/caller?token=TOKEN"),
	target("the token under another name", 400, "/api/caller?access_token=x"),
	target("the token under any name", 400, "/api/caller?x=TOKEN"),
	target("a query that cannot be read", 400, "/api/caller?a=%zz"),
	target("a query with semicolons", 400, "/api/caller?a=1;token=x"),
	target("an absolute target of another host", 400, "http://evil.example/api/caller"),
	target("an absolute target of this host", 400, "http://ADDR/api/caller"),
	target("a target without a slash", 400, "api/caller"),
	target("two slashes at the beginning", 400, "//api/caller"),
	target("two slashes inside", 400, "/api//caller"),
	target("a dot segment", 400, "/api/./caller"),
	target("a parent segment", 400, "/healthz/../api/caller"),
	target("an encoded parent segment", 400, "/healthz/%2e%2e/api/caller"),
	target("an encoded slash", 400, "/api%2fcaller"),
	target("an encoded slash in a room", 400, "/api/rooms/x%2F..%2Fy"),
	target("a backslash", 400, "/api\\caller"),
	target("an encoded backslash", 400, "/api%5ccaller"),
	target("an encoded NUL", 400, "/api/caller%00"),
	target("an encoded line break", 400, "/api/caller%0d%0aX:%20y"),
	{"a target that is a proxy's", 400, "CONNECT evil.example:443 HTTP/1.1\nHost: evil.example:443\n" + bearer + "\n"},
	{"an unknown path without a credential", 401, "GET /api/none HTTP/1.1\nHost: ADDR\n\n"},
}

var hostileMethods = []hostile{
	{"TRACE", 405, "TRACE /api/caller HTTP/1.1\nHost: ADDR\n" + bearer + "\n"},
	{"an invented method", 405, "MOOT /api/caller HTTP/1.1\nHost: ADDR\n" + bearer + "\n"},
	{"a GET that changes something", 405, "GET /api/launches HTTP/1.1\nHost: ADDR\n" + bearer + "\n"},
	{"another method by a header", 405, "GET /api/launches HTTP/1.1\nHost: ADDR\n" + bearer + "X-HTTP-Method-Override: POST\nX-Method-Override: POST\n\n"},
	{"a GET with a body", 400, "GET /api/caller HTTP/1.1\nHost: ADDR\n" + bearer + "Content-Length: 2\n\n{}"},
	{"a GET with a body in chunks", 400, "GET /api/caller HTTP/1.1\nHost: ADDR\n" + bearer + "Transfer-Encoding: chunked\n\n2\n{}\n0\n\n"},
	{"a header over 32 KiB", 431, "GET /api/caller HTTP/1.1\nHost: ADDR\n" + bearer + "X: " + strings.Repeat("x", 64<<10) + "\n\n"},
	{"many headers", 431, "GET /api/caller HTTP/1.1\nHost: ADDR\n" + bearer + strings.Repeat("X: y\n", 16<<10) + "\n"},
	{"a header with a line break inside", 400, "GET /api/caller HTTP/1.1\nHost: ADDR\n" + bearer + "X: y\n z\x00\n\n"},
	{"a space before the colon", 400, "GET /api/caller HTTP/1.1\nHost: ADDR\nAuthorization : Bearer TOKEN\n\n"},
	{"a version that does not exist", 505, "GET /api/caller HTTP/9.9\nHost: ADDR\n" + bearer + "\n"},
	{"request smuggling: two lengths", 400, "POST /api/tokens HTTP/1.1\nHost: ADDR\n" + bearer + asJSON + "Content-Length: 28\nContent-Length: 2\n\n" + newToken},
	{"request smuggling: an unknown transfer coding", 501, "POST /api/tokens HTTP/1.1\nHost: ADDR\n" + bearer + asJSON + "Transfer-Encoding: xchunked\n\n" + newToken},
	{"a negative length", 400, "POST /api/tokens HTTP/1.1\nHost: ADDR\n" + bearer + asJSON + "Content-Length: -1\n\n" + newToken},
}

var hostileBodies = []hostile{
	post("a form of another site: text/plain", 415, "Content-Type: text/plain\n", newToken),
	post("a form of another site: urlencoded", 415, "Content-Type: application/x-www-form-urlencoded\n", newToken),
	post("a form of another site: multipart", 415, "Content-Type: multipart/form-data; boundary=x\n", newToken),
	post("no type", 415, "", newToken),
	post("a type that contains the right one", 415, "Content-Type: text/plain; application/json\n", newToken),
	post("another JSON type", 415, "Content-Type: application/json-patch+json\n", newToken),
	post("two types", 415, asJSON+"Content-Type: text/plain\n", newToken),
	post("another charset", 415, "Content-Type: application/json; charset=utf-16\n", newToken),
	post("a compressed body", 415, asJSON+"Content-Encoding: gzip\n", newToken),
	post("a body over 1 MiB", 413, asJSON, `{"name":"`+strings.Repeat("x", 2<<20)+`"}`),
	post("a body nested too deeply", 400, asJSON, strings.Repeat(`[`, 10000)+strings.Repeat(`]`, 10000)),
	post("a key twice", 400, asJSON, `{"name":"x","scope":"read","scope":"admin"}`),
	post("a key in another case", 422, asJSON, `{"name":"x","Scope":"admin"}`),
	post("an unknown key", 422, asJSON, `{"name":"x","scope":"admin","admin":true}`),
	post("a number that is too large", 400, asJSON, `{"name":1e400,"scope":"admin"}`),
	post("invalid UTF-8", 400, asJSON, "{\"name\":\"\xff\",\"scope\":\"admin\"}"),
	post("two values", 400, asJSON, newToken+newToken),
	post("half a value", 400, asJSON, `{"name":"x",`),
	post("an empty body", 400, asJSON, ""),
	post("a list in place of an object", 422, asJSON, `[1]`),
	post("null", 422, asJSON, `null`),
}

// fill replaces the placeholders of a request.
func (x *secured) fill(t *testing.T, raw string) string {
	t.Helper()
	other, err := access.OpenKeys(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := other.AdminToken()
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(raw, "\n\n")
	head = strings.NewReplacer("ADDR", x.addr, "PORT", x.port, "TOKEN", x.token, "FOREIGN", foreign, "UNSIGNED", x.token[:strings.IndexByte(x.token, '.')], "\n", "\r\n").Replace(head + "\n\n")
	return head + body
}

// send sends raw bytes and returns the response.
func (x *secured) send(t *testing.T, raw string) *http.Response {
	t.Helper()
	c, err := net.Dial("tcp", x.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go func() { _, _ = io.WriteString(c, raw) }() // the server may answer before it has read all
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("no response: %v", err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// TestHostileRequests sends every hostile request with a real connection. None gets
// anything, changes anything, or is told that other sites may read the response.
func TestHostileRequests(t *testing.T) {
	x := newSecured(t, "")
	if resp := x.send(t, x.fill(t, get("", 200, "ADDR", "").raw)); resp.StatusCode != 200 {
		t.Fatalf("the request that the hostile ones vary: %s", resp.Status)
	}
	seen := map[string]bool{}
	for _, h := range hostiles() {
		t.Run(h.name, func(t *testing.T) {
			if seen[h.name] {
				t.Error("this name is used twice")
			}
			seen[h.name] = true
			resp := x.send(t, x.fill(t, h.raw))
			if resp.StatusCode != h.want && (h.want != 401 || resp.StatusCode != 429) {
				b, _ := io.ReadAll(resp.Body)
				t.Errorf("%s, want %d: %s", resp.Status, h.want, b)
			}
			for name := range resp.Header {
				if strings.HasPrefix(name, "Access-Control-") || name == "Set-Cookie" {
					t.Errorf("the response has %s", name)
				}
			}
		})
	}
	if list, err := x.keys.List(); err != nil || len(list) > 0 {
		t.Errorf("a hostile request has made tokens: %v, %v", list, err)
	}
	t.Logf("%d hostile requests", len(seen))
}
