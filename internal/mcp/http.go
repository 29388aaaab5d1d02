package mcp

import (
	"context"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Client is who sent a request over HTTP.
type Client struct {
	ID  string // tells credentials apart
	API API
}

// apiKey is the key of the API among the facts of a credential.
const apiKey = "api"

func apiOf(extra *sdk.RequestExtra) API {
	a, _ := extra.TokenInfo.Extra[apiKey].(API)
	return a
}

// firstStateless is the first revision without sessions.
const firstStateless = "2026-07-28"

// Handler serves streamable HTTP. who tells the client of a request, which the caller
// has authenticated and whose host and origin it has checked. Each request counts for
// its own credential; a session of an old client takes requests of the one that
// opened it only.
func (s *Server) Handler(who func(*http.Request) Client) http.Handler {
	get := func(*http.Request) *sdk.Server { return s.sdk }
	stateless := sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true,
	})
	sessions := sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{SessionTimeout: s.cfg.Idle, DisableLocalhostProtection: true})
	byEra := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= firstStateless {
			stateless.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	})
	known := auth.RequireBearerToken(func(_ context.Context, _ string, r *http.Request) (*auth.TokenInfo, error) {
		c := who(r)
		return &auth.TokenInfo{UserID: c.ID, Extra: map[string]any{apiKey: c.API}}, nil
	}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(byEra)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer authenticated") // the library asks for one also from those who need none
		known.ServeHTTP(w, r)
	})
}

// Close ends the sessions of old clients.
func (s *Server) Close() error {
	for session := range s.sdk.Sessions() {
		_ = session.Close() // the client has gone
	}
	return nil
}
