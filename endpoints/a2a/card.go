package a2a

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	api "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// An agent is what an agent card describes.
type agent struct {
	*a2aclient.Client
	streams bool // it streams its answers
}

// connect returns the agent, from a new agent card if there is none yet or again is
// set.
func (e *Endpoint) connect(ctx context.Context, again bool) (*agent, error) {
	e.mu.Lock()
	g := e.agent
	e.mu.Unlock()
	if g != nil && !again {
		return g, nil
	}
	g, err := e.dial(ctx)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.agent = g
	e.mu.Unlock()
	return g, nil
}

// dial reads the agent card.
func (e *Endpoint) dial(ctx context.Context) (_ *agent, err error) {
	base, err := url.Parse(e.base)
	if err != nil || !safe(base) {
		return nil, codedError("AGENT-SERVER", "the URL of an A2A agent begins with https://, or with http:// and this machine, and has no user and no query", "correct url; a token is written as token", endpoint.ErrAgent)
	}
	defer recovered(&err)
	version := agentcard.WithRequestHeader(api.SvcParamVersion, string(api.Version)) // without it, servers may send a card of 0.3
	card, err := agentcard.NewResolver(e.http).Resolve(ctx, e.base, version)
	if err != nil {
		return nil, err
	}
	for _, x := range card.Capabilities.Extensions {
		if x.Required {
			return nil, e.serverError("requires the extension "+e.secret.Clean(x.URI)+", which moot does not have", "use an agent without it")
		}
	}
	if card.SupportedInterfaces, err = e.own(base, card.SupportedInterfaces); err != nil {
		return nil, err
	}
	c, err := a2aclient.NewFromCard(ctx, card, a2aclient.WithDefaultsDisabled(), a2aclient.WithJSONRPCTransport(e.http))
	return &agent{c, card.Capabilities.Streaming}, err
}

// own returns the first interface that can be used: JSON-RPC of version 1, at the
// server of the card. A card may not send the texts of a room, and the token, to
// another one.
func (e *Endpoint) own(base *url.URL, all []*api.AgentInterface) ([]*api.AgentInterface, error) {
	var elsewhere, others []string
	for _, i := range all {
		if i == nil {
			continue
		}
		if version := string(i.ProtocolVersion); i.ProtocolBinding != api.TransportProtocolJSONRPC || version != "1" && !strings.HasPrefix(version, "1.") {
			others = append(others, fmt.Sprintf("%s %s", i.ProtocolBinding, version))
			continue
		}
		u, err := url.Parse(i.URL)
		if err != nil || u.User != nil {
			continue
		}
		if origin(u) == origin(base) {
			return []*api.AgentInterface{i}, nil
		}
		elsewhere = append(elsewhere, u.Scheme+"://"+u.Host)
	}
	if len(elsewhere) > 0 {
		return nil, e.serverError("names another server in its agent card: "+e.secret.Clean(strings.Join(elsewhere, ", ")), "if you trust that server, write its URL as url")
	}
	return nil, e.serverError("offers no JSON-RPC interface of A2A 1 in its agent card, but: "+e.secret.Clean(strings.Join(others, ", ")), "update the agent to A2A 1.0")
}

// origin returns the scheme, host and port of a URL.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	return strings.ToLower(u.Scheme + "://" + net.JoinHostPort(u.Hostname(), port))
}

// safe reports whether a URL has a host and keeps a token from the network.
func safe(u *url.URL) bool {
	host := u.Hostname()
	ip, err := netip.ParseAddr(host)
	local := host == "localhost" || err == nil && ip.IsLoopback()
	return host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" && (u.Scheme == "https" || u.Scheme == "http" && local)
}
