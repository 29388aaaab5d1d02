package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	api "github.com/sashabaranov/go-openai"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/webclient"
	"github.com/folkmoot/moot/problem"
)

func codedError(code, what, fix string, kind error) error {
	return &problem.Error{Code: code, What: what, Fix: fix, Kind: kind}
}

// agentError is the error of a model that gives no usable answer.
func agentError(what, fix string) error {
	return codedError("AGENT-ERROR", "the model gives no answer: "+what, fix, endpoint.ErrAgent)
}

// statusOf reads the error of a server.
func statusOf(r *http.Response) error {
	b, _ := io.ReadAll(r.Body) // the status says enough
	return &webclient.StatusError{Status: r.StatusCode, Message: messageOf(b)}
}

// messageOf returns the message in the body of an error, which servers write in
// several forms.
func messageOf(body []byte) string {
	var nested api.ErrorResponse
	if json.Unmarshal(body, &nested) == nil && nested.Error != nil && nested.Error.Message != "" {
		return nested.Error.Message
	}
	var flat struct{ Error, Message, Detail string }
	if json.Unmarshal(body, &flat) == nil {
		return cmp.Or(flat.Error, flat.Message, flat.Detail, string(body))
	}
	return string(body)
}

// problem returns err, which a call of this endpoint has ended with, as the error
// that the room sees. ctx is that of the caller.
func (e *Endpoint) problem(ctx, call context.Context, err error) error {
	var coded *problem.Error
	var away *webclient.RedirectError
	switch {
	case ctx.Err() == nil && e.turns.Closed():
		return webclient.ErrClosed
	case webclient.Expired(ctx, call):
		return codedError("AGENT-TIMEOUT", "the model gave no answer in time", "give the seat a longer timeout, or startTimeout, or use a smaller model", endpoint.ErrTimeout)
	case ctx.Err() != nil:
		return fmt.Errorf("waiting for the model: %w", context.Cause(ctx))
	case errors.As(err, &coded):
		return err
	case errors.As(err, &away):
		return e.serverError("redirects to "+e.secret.Clean(away.To)+", and a redirect is not followed", "write the address of the server itself as baseURL")
	case errors.Is(err, endpoint.ErrTooLarge):
		return codedError("AGENT-TOOLARGE", "the answer of the model is too large: "+e.secret.Words(err), "raise limits.maxOutputChars, or tell the model to be brief", endpoint.ErrTooLarge)
	case errors.Is(err, endpoint.ErrAgent): // of PlainAnswer
		return codedError("AGENT-ERROR", "the model gives no answer: "+e.secret.Words(err), "see whether the model is fit for a chat", endpoint.ErrAgent)
	}
	return e.serverProblem(call, err)
}

// serverProblem returns an error for what the server, or the way to it, has done.
func (e *Endpoint) serverProblem(call context.Context, err error) error {
	var said *api.APIError
	var raw *api.RequestError
	var status *webclient.StatusError
	var sent *url.Error
	if errors.As(err, &sent) {
		err = sent.Err
	}
	switch {
	case errors.Is(err, api.ErrChatCompletionInvalidModel), errors.Is(err, api.ErrReasoningModelLimitationsOther), errors.Is(err, api.ErrReasoningSamplingUnsupported):
		return agentError("it cannot be asked so: "+err.Error(), "remove temperature from the endpoint, or use another model")
	case errors.As(err, &raw):
		return e.refused(call, raw.HTTPStatusCode, messageOf(raw.Body))
	case errors.As(err, &said) && said.HTTPStatusCode > 0:
		return e.refused(call, said.HTTPStatusCode, said.Message)
	case errors.As(err, &said):
		return codedError("AGENT-ERROR", "the model server reports an error: "+e.secret.Clean(said.Message), "see the log of the server at "+e.name, endpoint.ErrAgent)
	case errors.As(err, &status):
		return e.refused(call, status.Status, status.Message)
	case sent != nil && !errors.Is(err, endpoint.ErrProtocol):
		return e.serverError("cannot be reached: "+e.secret.Words(err)+"; if it is Ollama, `ollama serve` starts it", "start the server, or correct baseURL")
	}
	return codedError("AGENT-PROTOCOL", "the model server at "+e.name+" broke the protocol: "+e.secret.Words(err), "check that baseURL is that of an OpenAI-compatible API; it often ends in /v1", endpoint.ErrProtocol)
}

// refused returns the error of a status that is no success.
func (e *Endpoint) refused(call context.Context, status int, message string) error {
	what, fix := fmt.Sprintf("answers with status %d: %s", status, cmp.Or(e.secret.Clean(message), http.StatusText(status))), "see the log of the server"
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
		if models := e.modelsSoon(call); len(models) > 0 && !has(models, e.cfg.Model) {
			return e.noModel("it "+what, models)
		}
		fix = "correct what it names; if the prompt is too long for the model, lower context.tokens, and baseURL often ends in /v1"
	case http.StatusUnauthorized, http.StatusForbidden:
		fix = "write apiKey: \"${OPENAI_API_KEY}\" in the endpoint, and export that variable with a valid key"
	case http.StatusTooManyRequests:
		fix = "wait, raise the limit at the server, or give the seat a longer timeout: it was asked again while there was time"
	}
	return e.serverError(what, fix)
}

// modelsSoon returns the models of the server for an error message, nil if it does
// not list them in a moment.
func (e *Endpoint) modelsSoon(call context.Context) []string {
	ctx, cancel := context.WithTimeout(call, 2*time.Second)
	defer cancel()
	models, err := e.models(ctx)
	if err != nil {
		return nil // the error of the turn is the one that counts
	}
	return models
}

// noModel returns the error of a model that the server does not have.
func (e *Endpoint) noModel(why string, models []string) error {
	return e.serverError("has no model "+endpoint.Quote(e.cfg.Model)+": "+why+"; it has "+e.secret.Redact(named(models)), "write one that it has; `ollama pull` adds one to Ollama")
}

func (e *Endpoint) serverError(what, fix string) error {
	return codedError("AGENT-SERVER", "the model server at "+e.name+" "+what, fix, endpoint.ErrAgent)
}
