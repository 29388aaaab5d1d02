package server

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/problem"
)

// LaunchURL returns an address that signs one browser in with that scope. It works
// once, and for a minute. The code is in the fragment, which browsers do not send.
func (s *Server) LaunchURL(scope Scope) (api.Launch, error) {
	base := ""
	if s.cfg.URL != nil {
		base = s.cfg.URL()
	}
	if base == "" || s.cfg.Keys == nil {
		return api.Launch{}, &problem.Error{Code: "API-LAUNCH", What: "this server has no address for browsers", Fix: "start `moot serve`"}
	}
	code, err := s.launcher.Code(access.Grant{Name: "browser", Scope: scope})
	if err != nil {
		return api.Launch{}, &problem.Error{Code: "API-LAUNCH", What: err.Error(), Fix: "wait a minute"}
	}
	return api.Launch{URL: base + "/launch#" + code, Expires: time.Now().Add(access.LaunchTime).UTC().Truncate(time.Second)}, nil
}

//go:embed launch.js
var launchScript string

// launchHTML is the page; only its own script may run in it.
var (
	launchHTML = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Folkmoot</title>\n" +
		"<h1>Folkmoot</h1>\n<p role=\"status\">This page signs the browser in. It needs JavaScript.</p>\n" +
		"<script type=\"module\">" + launchScript + "</script>\n</html>\n"
	launchPolicy = fmt.Sprintf("default-src 'none'; script-src 'sha256-%s'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'", digest(launchScript))
)

func digest(script string) string {
	sum := sha256.Sum256([]byte(script))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// launchPage shows the page that sends the code in its fragment. The request changes
// nothing, so a preview of the address does not use up the code.
func launchPage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", launchPolicy)
	_, _ = io.WriteString(w, launchHTML) // the browser has gone, if not
}

// exchange answers a launch code, or the token of a spectator, with a cookie.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request) {
	guard, _ := r.Context().Value(guardKey{}).(*access.Guard)
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if guard == nil || !ok {
		s.fail(w, &problem.Error{Code: "API-LAUNCH", What: "only a browser over TCP can be signed in", Fix: "open the address in a browser"})
		return
	}
	var body api.LaunchCode
	b, err := io.ReadAll(r.Body)
	if err == nil {
		err = strict.Decode(b, 1, &body)
	}
	if err != nil {
		s.fail(w, &problem.Error{Code: "API-REQUEST", What: "the body is neither {\"code\": ...} nor {\"token\": ...}", Err: err})
		return
	}
	var token string
	var grant access.Grant
	if body.Token == "" {
		token, grant, err = guard.Exchange(r, s.launcher, body.Code)
	} else {
		token = body.Token
		grant, err = guard.Spectator(r, token)
	}
	if err != nil {
		s.fail(w, err)
		return
	}
	if body.Token == "" || CallerOf(r.Context()).Scope <= Read { // a spectator's link takes nothing from the owner
		http.SetCookie(w, access.Cookie(uint16(local.Port), token, r.TLS != nil))
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(api.Launched{Room: grant.Room}) // the browser has gone, if not
}
