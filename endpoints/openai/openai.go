package openai

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/webclient"
)

// A Config says which model of which server answers.
type Config struct {
	BaseURL         string   // without /chat/completions
	Model           string   // as the server names it
	APIKey          string   // sent as the bearer token; "" sends none
	Temperature     *float64 // nil is the server's default
	MaxOutputTokens int      // of one answer with its reasoning; 0 is the server's default

	Transport http.RoundTripper // nil is one of its own with the proxy of the environment
}

// An Endpoint asks a model. Its methods may be called concurrently.
type Endpoint struct {
	cfg    Config
	base   string // the base URL without a slash at its end
	name   string // the base URL for people
	http   *http.Client
	client *api.Client
	turns  *webclient.Turns
	secret webclient.Secret // the key
}

// maxLine bounds a line of a stream, in bytes.
const maxLine = 1 << 20

// New returns an endpoint for a model. It connects when it is asked.
func New(cfg Config) *Endpoint {
	cfg.APIKey = strings.TrimSpace(cfg.APIKey)
	if cfg.Transport == nil {
		cfg.Transport = webclient.NewBase()
	}
	e := &Endpoint{cfg: cfg, base: strings.TrimRight(cfg.BaseURL, "/"), turns: webclient.NewTurns(), secret: webclient.Secret{Token: cfg.APIKey, Word: "[key]"}}
	e.name = nameOf(e.base)
	e.http = &http.Client{Transport: webclient.Transport{Base: cfg.Transport, MaxLine: maxLine}}
	c := api.DefaultConfig(cfg.APIKey)
	c.BaseURL, c.HTTPClient = e.base, e.http
	e.client = api.NewClientWithConfig(c)
	return e
}

// nameOf returns a URL without what could be a secret.
func nameOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "(not a URL)"
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}

// Start checks that the server answers and, if it lists its models, that it has this
// one. A server without such a list is taken as it is.
func (e *Endpoint) Start(ctx context.Context, _ endpoint.Floor) error {
	call, done := e.turns.Bound(ctx)
	defer done()
	models, err := e.models(call)
	switch {
	case err != nil:
		return e.problem(ctx, call, err)
	case len(models) > 0 && !has(models, e.cfg.Model):
		return e.noModel("it does not list it", models)
	}
	return nil
}

// Speak asks the model for a turn. A bid is a pass at once. Errors wrap endpoint's:
// ErrBusy, ErrClosed, ErrTimeout, ErrTooLarge, ErrProtocol and ErrAgent. The last
// three come with the usage, if it is known. A broken protocol is raised as a
// violation too.
func (e *Endpoint) Speak(ctx context.Context, p endpoint.Prompt, floor endpoint.Floor) (endpoint.Reply, error) {
	ask := func(call context.Context) (endpoint.Reply, error) { return e.ask(call, p, floor) }
	return e.turns.Speak(ctx, p, floor, ask, func(call context.Context, err error) error { return e.problem(ctx, call, err) })
}

// Close ends the request in flight and waits for it.
func (e *Endpoint) Close() error {
	e.turns.Close(func() {})
	return nil
}

// ask sends p and reads the answer.
func (e *Endpoint) ask(ctx context.Context, p endpoint.Prompt, floor endpoint.Floor) (endpoint.Reply, error) {
	stream, err := e.client.CreateChatCompletionStream(ctx, e.request(p))
	if err != nil {
		return endpoint.Reply{}, err
	}
	defer stream.Close()
	a := answer{limit: p.MaxOutputChars, show: func(string) {}}
	if floor != nil {
		a.show = floor.Show
	}
	if err := a.read(stream); err != nil {
		return endpoint.Reply{Usage: a.usage}, err
	}
	return a.reply(p, e.secret.Redact)
}

// request returns the request of a turn.
func (e *Endpoint) request(p endpoint.Prompt) api.ChatCompletionRequest {
	q := api.ChatCompletionRequest{
		Model: e.cfg.Model, Stream: true, StreamOptions: &api.StreamOptions{IncludeUsage: true},
		Messages: []api.ChatCompletionMessage{
			{Role: api.ChatMessageRoleSystem, Content: endpoint.PlainInstructions(p)},
			{Role: api.ChatMessageRoleUser, Content: p.Text},
		},
	}
	if t := e.cfg.Temperature; t != nil {
		q.Temperature = max(float32(*t), math.SmallestNonzeroFloat32) // the library leaves out a 0
	}
	return limited(q, e.cfg.MaxOutputTokens)
}

// limited returns q with a bound of the answer in tokens. Its name is max_tokens, the
// only one that many servers know, unless the library has the model as one that
// refuses it.
func limited(q api.ChatCompletionRequest, tokens int) api.ChatCompletionRequest {
	older := q
	older.MaxTokens = tokens //lint:ignore SA1019 see above
	if api.NewReasoningValidator().Validate(older) == api.ErrReasoningModelMaxTokensDeprecated {
		q.MaxCompletionTokens = tokens
		return q
	}
	return older
}
