package a2a

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	api "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/webclient"
	"github.com/folkmoot/moot/problem"
)

// Fixes of several errors.
const (
	tokenFix = "write token: \"${A2A_TOKEN}\" in the endpoint, and export that variable with a valid token"
	logFix   = "see the log of the agent"
)

func codedError(code, what, fix string, kind error) error {
	return &problem.Error{Code: code, What: what, Fix: fix, Kind: kind}
}

// agentError is the error of an agent that gives no usable answer.
func agentError(what, fix string) error {
	return codedError("AGENT-ERROR", "the agent gives no answer: "+what, fix, endpoint.ErrAgent)
}

// messageOf returns the message in the body of an error: that of JSON-RPC, else the
// whole body.
func messageOf(body io.Reader) string {
	b, _ := io.ReadAll(body) // the status says enough
	if said := rpcError(b); said != "" {
		return said
	}
	return string(b)
}

// rpcError returns the message of a JSON-RPC error, "" for another text.
func rpcError(text []byte) string {
	var r struct{ Error struct{ Message string } }
	if json.Unmarshal(text, &r) != nil {
		return ""
	}
	return r.Error.Message
}

// problem returns err, which a call of this endpoint has ended with, as the error
// that the room sees. ctx is that of the caller.
func (e *Endpoint) problem(ctx, call context.Context, err error) error {
	var coded *problem.Error
	switch {
	case ctx.Err() == nil && e.turns.Closed():
		return webclient.ErrClosed
	case webclient.Expired(ctx, call):
		return codedError("AGENT-TIMEOUT", "the agent gave no answer in time", "give the seat a longer timeout, or find out why the agent is slow", endpoint.ErrTimeout)
	case ctx.Err() != nil:
		return fmt.Errorf("waiting for the agent: %w", context.Cause(ctx))
	case errors.As(err, &coded):
		return err
	case errors.Is(err, endpoint.ErrTooLarge):
		return codedError("AGENT-TOOLARGE", "the answer of the agent is too large: "+e.secret.Words(err), "raise limits.maxOutputChars, or tell the agent to be brief", endpoint.ErrTooLarge)
	case errors.Is(err, endpoint.ErrAgent): // of PlainAnswer
		return agentError(e.secret.Words(err), "see whether the agent answers in text")
	}
	return e.serverProblem(err)
}

// serverProblem returns an error for what the server, or the way to it, has done.
func (e *Endpoint) serverProblem(err error) error {
	var said *api.Error
	var status *webclient.StatusError
	var away *webclient.RedirectError
	var whole *webclient.NotStreamError
	var sent *url.Error
	if errors.As(err, &sent) {
		err = sent.Err
	}
	switch {
	case errors.Is(err, api.ErrUnauthenticated), errors.Is(err, api.ErrUnauthorized):
		return e.serverError("does not let this device in: "+e.secret.Words(err), tokenFix)
	case errors.As(err, &said):
		return codedError("AGENT-ERROR", "the agent reports an error: "+e.secret.Clean(said.Error()), logFix, endpoint.ErrAgent)
	case errors.As(err, &whole) && rpcError(whole.Begin) != "":
		return codedError("AGENT-ERROR", "the agent reports an error: "+e.secret.Clean(rpcError(whole.Begin)), logFix, endpoint.ErrAgent)
	case errors.As(err, &status):
		return e.refused(status.Status, status.Message)
	case errors.As(err, &away):
		return e.serverError("redirects to "+e.secret.Clean(away.To)+", and a redirect is not followed", "write the address of the server itself as url")
	case sent != nil && !errors.Is(err, endpoint.ErrProtocol):
		return e.serverError("cannot be reached: "+e.secret.Words(err), "start the agent, or correct url")
	}
	return codedError("AGENT-PROTOCOL", "the A2A server at "+e.base+" broke the protocol: "+e.secret.Words(err), "check that url is that of an A2A 1.0 agent", endpoint.ErrProtocol)
}

// refused returns the error of a status that is no success.
func (e *Endpoint) refused(status int, message string) error {
	fix := logFix
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		fix = tokenFix
	case http.StatusNotFound:
		fix = "correct url: the agent card is at /.well-known/agent-card.json below it"
	case http.StatusTooManyRequests:
		fix = "wait, raise the limit at the server, or give the seat a longer timeout: it was asked again while there was time"
	}
	return e.serverError(fmt.Sprintf("answers with status %d: %s", status, cmp.Or(e.secret.Clean(message), http.StatusText(status))), fix)
}

func (e *Endpoint) serverError(what, fix string) error {
	return codedError("AGENT-SERVER", "the A2A server at "+e.base+" "+what, fix, endpoint.ErrAgent)
}
