package access

import (
	"encoding/hex"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/problem"
)

func open(t *testing.T) *Keys {
	t.Helper()
	k, err := OpenKeys(filepath.Join(t.TempDir(), "server"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestTokens checks that a token carries its grant, also to another process, and that
// any change of it is noticed.
func TestTokens(t *testing.T) {
	k := open(t)
	token, g, err := k.Mint(Grant{Name: "ann", Scope: Control, Room: "r_1", Seat: "bot", Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	again, err := OpenKeys(k.dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Check(token); err != nil || got != g {
		t.Errorf("%+v, %v, want %+v", got, err, g)
	}
	for i := range token {
		bad := []byte(token)
		bad[i] ^= 1
		if _, err := k.Check(string(bad)); !errors.Is(err, ErrToken) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	for _, bad := range []string{"", "moot_", "moot_.", token[:len(token)-1], token + "A", token + ".x", " " + token, strings.ToUpper(token), strings.Repeat("x", 1<<20)} {
		if _, err := k.Check(bad); !errors.Is(err, ErrToken) {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
	if _, err := open(t).Check(token); !errors.Is(err, ErrToken) {
		t.Errorf("with another key: %v", err)
	}
}

// TestGrants checks which grants no token can carry.
func TestGrants(t *testing.T) {
	k := open(t)
	for _, g := range []Grant{
		{Scope: Read},
		{Name: "x"},
		{Name: "x", Scope: Admin + 1},
		{Name: "x", Scope: -1},
		{Name: "x", Scope: Talk, Seat: "bot"},
		{Name: "x", Scope: Admin, Room: "r_1"},
		{Name: strings.Repeat("x", maxToken), Scope: Read},
	} {
		if token, _, err := k.Mint(g); err == nil {
			t.Errorf("%+v has the token %s", g, token)
		}
	}
}

// TestRevoke checks that other processes refuse an expired and a revoked token at
// once, and that the list has no secrets.
func TestRevoke(t *testing.T) {
	k := open(t)
	other, err := OpenKeys(k.dir)
	if err != nil {
		t.Fatal(err)
	}
	token, issued, err := k.Issue(Grant{Name: "ci", Scope: Read})
	if err != nil {
		t.Fatal(err)
	}
	minted, grant, err := k.Mint(Grant{Name: "seat", Scope: Talk})
	if err != nil {
		t.Fatal(err)
	}
	for id, secret := range map[string]string{issued.ID: token, grant.ID: minted} {
		if _, err := other.Check(secret); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(k.Revoke(id), k.Revoke(id)); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Check(secret); !errors.Is(err, ErrRevoked) {
			t.Errorf("revoked: %v", err)
		}
	}
	if list, err := other.List(); err != nil || len(list) != 1 || list[0].Name != "ci" || list[0].Revoked.IsZero() {
		t.Errorf("%+v, %v", list, err)
	}
	b, err := os.ReadFile(filepath.Join(k.dir, "tokens.json"))
	if err != nil || strings.Contains(string(b), prefix) {
		t.Errorf("%s, %v", b, err)
	}
	if err := k.Revoke("ci"); err == nil {
		t.Error("a name is revoked as an id")
	}
	old, _, err := k.Mint(Grant{Name: "old", Scope: Read, Expires: time.Now()})
	if _, check := k.Check(old); err != nil || !errors.Is(check, ErrExpired) {
		t.Errorf("expired: %v, %v", check, err)
	}
}

// TestExpiredAreDropped checks that tokens.json does not grow for ever.
func TestExpiredAreDropped(t *testing.T) {
	k := open(t)
	for range 3 {
		_, issued, err := k.Issue(Grant{Name: "short", Scope: Read, Expires: time.Now().Add(-time.Hour)})
		if err == nil {
			err = k.Revoke(issued.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_, last, err := k.Issue(Grant{Name: "last", Scope: Read})
	if list, listed := k.List(); err != nil || listed != nil || len(list) != 1 || list[0].ID != last.ID {
		t.Errorf("%+v, %v, %v", list, listed, err)
	}
}

// TestKeyFile checks that one key is made, by however many callers, and which files
// are refused.
func TestKeyFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "server")
	secrets := make([][]byte, 8)
	var done sync.WaitGroup
	for i := range secrets {
		done.Go(func() {
			if k, err := OpenKeys(dir); err != nil {
				t.Error(err)
			} else {
				secrets[i] = k.secret
			}
		})
	}
	done.Wait()
	for _, s := range secrets {
		if len(s) != keyBytes || string(s) != string(secrets[0]) {
			t.Fatalf("keys %x", secrets)
		}
	}
	path := filepath.Join(dir, "key")
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, content := range []string{"", "\n", "00", strings.Repeat("0", 2*keyBytes-1), strings.Repeat("x", 2*keyBytes), strings.Repeat("0", 4*keyBytes), strings.Repeat("0", 1<<20)} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenKeys(dir); codeOf(err) != "SERVER-KEY" {
			t.Errorf("key %.20q: %v", content, err)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := errors.Join(os.WriteFile(path, []byte(hex.EncodeToString(secrets[0])), 0o600), os.Chmod(path, 0o640)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenKeys(dir); codeOf(err) != "SERVER-KEY" {
		t.Errorf("a key that others may read: %v", err)
	}
}

// TestAdminToken checks the token of this user's scripts: it stays, a token of another
// key is replaced, and an empty file is an error (CVE-2026-10281).
func TestAdminToken(t *testing.T) {
	k := open(t)
	token, err := k.AdminToken()
	if err != nil {
		t.Fatal(err)
	}
	if g, err := k.Check(token); err != nil || g.Scope != Admin {
		t.Errorf("%+v, %v", g, err)
	}
	if again, err := k.AdminToken(); err != nil || again != token {
		t.Errorf("another token, %v", err)
	}
	path := filepath.Join(k.dir, "token")
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("moot_x.y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := k.AdminToken(); err != nil || again == token || again == "moot_x.y" {
		t.Errorf("%q, %v", again, err)
	}
	for _, content := range []string{"", " \n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := k.AdminToken(); codeOf(err) != "SERVER-TOKEN" {
			t.Errorf("an empty file: %v", err)
		}
	}
}

// TestDamagedList checks that no token is valid while the list of revoked tokens
// cannot be read.
func TestDamagedList(t *testing.T) {
	k := open(t)
	token, err := k.AdminToken()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(k.dir, "tokens.json"), []byte(`{"revoked":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Check(token); codeOf(err) != "SERVER-KEY" {
		t.Error(err)
	}
	if _, _, err := k.Issue(Grant{Name: "x", Scope: Read}); codeOf(err) != "SERVER-KEY" {
		t.Error(err)
	}
}

// TestTries checks that the eleventh bad credential of an address within a minute
// waits, and that the number of addresses is bounded.
func TestTries(t *testing.T) {
	var c tryCounter
	now := time.Now()
	local, network := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("2001:db8::1")
	for i := range 10 {
		if c.add(local, now) > 0 || c.add(network, now) > 0 {
			t.Fatalf("try %d waits", i+1)
		}
	}
	for _, from := range []string{"127.0.0.1", "::ffff:127.0.0.1", "2001:db8::1", "2001:db8::2%eth0"} {
		if wait := c.add(netip.MustParseAddr(from), now.Add(20*time.Second)); wait != 40*time.Second {
			t.Errorf("%s waits %v", from, wait)
		}
	}
	if c.add(netip.MustParseAddr("127.0.0.2"), now) > 0 || c.add(local, now.Add(window)) > 0 {
		t.Error("another address or minute waits")
	}
	for i := range 3 * maxClients {
		c.add(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), now)
	}
	if len(c.clients) > maxClients+1 {
		t.Errorf("%d addresses are stored", len(c.clients))
	}
	if c.add(netip.MustParseAddr("192.0.2.1"), now) == 0 {
		t.Error("a flood of addresses hides one more")
	}
	if c.add(netip.MustParseAddr("192.0.2.1"), now.Add(window)) > 0 || len(c.clients) > 2 {
		t.Errorf("%d old addresses stay", len(c.clients))
	}
}

// TestLaunch checks that a code works once, and not for long.
func TestLaunch(t *testing.T) {
	k := open(t)
	l := NewLauncher(k)
	code, err := l.Code(Grant{Name: "browser", Scope: Control})
	if err != nil {
		t.Fatal(err)
	}
	token, g, err := l.Exchange(code)
	if err != nil || g.Scope != Control || g.Expires.IsZero() {
		t.Fatalf("%+v, %v", g, err)
	}
	if got, err := k.Check(token); err != nil || got != g {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{code, "", "x"} {
		if _, _, err := l.Exchange(bad); !errors.Is(err, ErrCode) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for range maxCodes {
		if code, err = l.Code(Grant{Name: "browser", Scope: Read}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Code(Grant{Name: "browser", Scope: Read}); err == nil {
		t.Error("codes are not bounded")
	}
	for digest, c := range l.codes {
		c.until = time.Now()
		l.codes[digest] = c
	}
	if _, _, err := l.Exchange(code); !errors.Is(err, ErrCode) {
		t.Errorf("a code of a minute ago: %v", err)
	}
	if _, err := l.Code(Grant{Name: "browser", Scope: Read}); err != nil || len(l.codes) != 1 {
		t.Errorf("old codes stay: %d, %v", len(l.codes), err)
	}
}

// TestHosts checks the names of the settings.
func TestHosts(t *testing.T) {
	local := netip.MustParseAddrPort("192.0.2.7:8443")
	h, err := ParseHosts("moot.example.org, Other.example.org:9000,proxy.example.org:443")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host   string
		secure bool
		want   bool
	}{
		{"moot.example.org:8443", true, true},
		{"MOOT.example.org:8443", true, true},
		{"moot.example.org", true, false},
		{"moot.example.org:9000", true, false},
		{"other.example.org:9000", true, true},
		{"other.example.org:8443", true, false},
		{"proxy.example.org", false, true},
		{"proxy.example.org:443", false, true},
		{"proxy.example.org:80", false, false},
		{"192.0.2.7:8443", true, true},
		{"192.0.2.8:8443", true, false},
		{"localhost:8443", true, false},
		{"127.0.0.1:8443", true, false},
		{"moot.example.org.:8443", true, false},
	} {
		if got := h.allow(c.host, local, c.secure); got != c.want {
			t.Errorf("%s, secure %v: %v", c.host, c.secure, got)
		}
	}
	for origin, want := range map[string]bool{
		"https://proxy.example.org": true, "https://proxy.example.org:443": true, "http://moot.example.org:8443": true,
		"https://moot.example.org:8443": false, "https://other.example.org": false, "http://evil.example": false, "null": false, "": false,
	} {
		if got := h.allowOrigin(origin, local, false); got != want {
			t.Errorf("origin %q: %v", origin, got)
		}
	}
	for _, bad := range []string{"*", "*.example.org", "a b:0", "x:99999", "http://x", "x/y", "-x", "x..y", "127.0.0.1:http", "[::1"} {
		if _, err := ParseHosts(bad); codeOf(err) != "SERVER-HOST" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestListen checks that only loopback addresses are listened on without TLS.
func TestListen(t *testing.T) {
	for address, code := range map[string]string{
		"0.0.0.0:0": "SERVER-PLAIN", ":0": "SERVER-PLAIN", "[::]:0": "SERVER-PLAIN", "192.0.2.7:0": "SERVER-PLAIN",
		"127.0.0.1": "SERVER-LISTEN", "127.0.0.1:99999": "SERVER-LISTEN", "": "SERVER-PLAIN",
	} {
		if l, _, err := Listen(address, "", ""); codeOf(err) != code {
			t.Errorf("%q: %v, %v", address, l, err)
		}
	}
	for _, files := range [][2]string{{"cert.pem", ""}, {"", "key.pem"}, {"none.pem", "none.pem"}} {
		if _, _, err := Listen("127.0.0.1:0", files[0], files[1]); codeOf(err) != "SERVER-CERT" {
			t.Errorf("%q: %v", files, err)
		}
	}
	l, scheme, err := Listen("127.0.0.1:0", "", "")
	if err != nil || scheme != "http" {
		t.Fatal(scheme, err)
	}
	defer l.Close()
	if _, _, err := Listen(l.Addr().String(), "", ""); codeOf(err) != "SERVER-LISTEN" {
		t.Errorf("an address in use: %v", err)
	}
}

// TestScopes checks the names of scopes.
func TestScopes(t *testing.T) {
	if names := ScopeNames(); !slices.Equal(names, []string{"read", "talk", "control", "admin"}) {
		t.Error(names)
	}
	for s := Read; s <= Admin; s++ {
		if got, err := ParseScope(s.String()); got != s || err != nil {
			t.Errorf("%v, %v, want %v", got, err, s)
		}
	}
	for _, bad := range []string{"", "none", "Admin", "root"} {
		if _, err := ParseScope(bad); err == nil {
			t.Errorf("%q is a scope", bad)
		}
	}
	if b, err := Scope(0).MarshalText(); err == nil {
		t.Errorf("no scope is %s", b)
	}
}

// TestExpiry checks lifetimes.
func TestExpiry(t *testing.T) {
	now := time.Now()
	for text, want := range map[string]time.Duration{"90m": 90 * time.Minute, "24h": 24 * time.Hour, "30d": 30 * 24 * time.Hour} {
		if got, err := ParseExpiry(text, now); err != nil || !got.Equal(now.Add(want)) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if got, err := ParseExpiry("", now); err != nil || !got.IsZero() {
		t.Error(got, err)
	}
	for _, bad := range []string{"0", "-1h", "d", "-1d", "1.5d", "99999d", "4000d", "500ms", "1000000h", "tomorrow"} {
		if got, err := ParseExpiry(bad, now); err == nil {
			t.Errorf("%s: %v", bad, got)
		}
	}
}

func codeOf(err error) string {
	p, _ := errors.AsType[*problem.Error](err)
	if p == nil {
		return ""
	}
	return p.Code
}

func FuzzToken(f *testing.F) {
	secret := make([]byte, keyBytes)
	token, err := seal(secret, Grant{ID: "t_1", Name: "x", Scope: Talk, Room: "r", Seat: "s"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(token, `{"id":"t_1","name":"x","scope":"talk"}`)
	f.Add("moot_.", `{"id":"t_1","name":"x","scope":"talk","scope":"admin"}`)
	f.Fuzz(func(t *testing.T, text, payload string) {
		if g, err := unseal(secret, text); err == nil && g.check() != nil {
			t.Errorf("%q is accepted as %+v", text, g)
		}
		g, err := decodeGrant(encoding.EncodeToString([]byte(payload)))
		if err != nil {
			return
		}
		if again, err := seal(secret, g); err == nil {
			if got, err := unseal(secret, again); err != nil || !got.Expires.Equal(g.Expires) {
				t.Errorf("%q: %+v comes back as %+v, %v", payload, g, got, err)
			}
		}
	})
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"127.0.0.1:80", "[::1]:80", "localhost", "a:0", "[::1%lo]:1", "x@y:1"} {
		f.Add(s)
	}
	h, err := ParseHosts("moot.example.org:443")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if !h.allow(host, netip.MustParseAddrPort("127.0.0.1:80"), false) {
			return
		}
		switch strings.ToLower(host) {
		case "127.0.0.1:80", "127.0.0.1", "localhost", "localhost:80", "moot.example.org", "moot.example.org:443":
		default:
			t.Errorf("%q is allowed", host)
		}
	})
}
