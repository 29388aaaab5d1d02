package openai

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	api "github.com/sashabaranov/go-openai"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/webclient"
)

// An answer is what a stream of chunks adds up to.
type answer struct {
	limit int          // of the text in characters; 0 is none
	show  func(string) // gets the text as it comes

	text     strings.Builder
	length   int // of text in characters
	thoughts thoughtFilter
	refusal  strings.Builder
	tools    bool // the model has called a tool
	finish   api.FinishReason
	usage    endpoint.Usage
}

// A receiver is a stream of chunks; it ends with io.EOF.
type receiver interface {
	Recv() (api.ChatCompletionStreamResponse, error)
}

// errCut means that a stream ended before the answer did.
var errCut = errors.New("the stream was cut before the end of the answer")

// read takes the chunks of a stream. It ends early when the text is over the limit.
func (a *answer) read(stream receiver) error {
	for {
		chunk, err := stream.Recv()
		switch {
		case err == nil:
		case a.finish != "" && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
			return nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return errCut
		default:
			return err
		}
		if err := a.take(chunk); err != nil || a.limit > 0 && a.length > a.limit {
			return err
		}
	}
}

// take adds one chunk. Choices other than the first were not asked for.
func (a *answer) take(chunk api.ChatCompletionStreamResponse) (err error) {
	if chunk.Usage != nil {
		if a.usage, err = usageOf(*chunk.Usage); err != nil {
			return err
		}
	}
	for _, c := range chunk.Choices {
		if c.Index != 0 {
			continue
		}
		a.say(a.thoughts.add(c.Delta.Content))
		if a.refusal.Len() < 4*webclient.MaxReason {
			a.refusal.WriteString(c.Delta.Refusal)
		}
		a.tools = a.tools || len(c.Delta.ToolCalls) > 0 || c.Delta.FunctionCall != nil
		if c.FinishReason != "" && c.FinishReason != api.FinishReasonNull {
			a.finish = c.FinishReason
			a.say(a.thoughts.end())
		}
	}
	return nil
}

func (a *answer) say(text string) {
	if text == "" {
		return
	}
	a.text.WriteString(text)
	a.length += utf8.RuneCountInString(text)
	a.show(text)
}

// cutReason is the reason of a reply that is not the whole answer.
const cutReason = "cut: the model reached its limit of tokens"

// reply returns the reply to p.
func (a *answer) reply(p endpoint.Prompt, redact func(string) string) (endpoint.Reply, error) {
	silent := strings.TrimSpace(endpoint.Clean(a.text.String())) == ""
	refusal := endpoint.CleanLine(redact(a.refusal.String()), webclient.MaxReason)
	switch {
	case a.finish == api.FinishReasonContentFilter:
		return endpoint.Reply{Outcome: endpoint.Refused, Reason: "the server's content filter ended the answer", Usage: a.usage}, nil
	case silent && refusal != "":
		return endpoint.Reply{Outcome: endpoint.Refused, Reason: refusal, Usage: a.usage}, nil
	case a.finish == "error": // of gateways
		return endpoint.Reply{Usage: a.usage}, agentError("the server ended it with an error", "see the log of the server")
	case silent && a.tools:
		return endpoint.Reply{Usage: a.usage}, agentError("it called a tool and has none", "use a model that answers in text, or an agent with tools")
	case silent && a.finish == api.FinishReasonLength:
		return endpoint.Reply{Usage: a.usage}, agentError("it reached its limit of tokens before it said anything", "raise maxOutputTokens of the endpoint, or the context of the model at its server")
	}
	r, err := endpoint.PlainAnswer(redact(a.text.String()), p)
	r.Usage = a.usage
	if a.finish == api.FinishReasonLength && r.Outcome == endpoint.Said {
		r.Reason, r.Cut = cutReason, true
	}
	return r, err
}

// usageOf returns what a server states. Some count the reasoning in the total only.
func usageOf(u api.Usage) (endpoint.Usage, error) {
	in, out := int64(u.PromptTokens), int64(max(u.CompletionTokens, u.TotalTokens-u.PromptTokens))
	r := endpoint.Usage{Known: in > 0 || out > 0, Input: in, Output: out}
	if d := u.PromptTokensDetails; d != nil {
		r.CachedInput = min(int64(d.CachedTokens), in)
	}
	if d := u.CompletionTokensDetails; d != nil {
		r.Reasoning = min(int64(d.ReasoningTokens), out)
	}
	if r.OutOfRange() != "" || u.CompletionTokens < 0 {
		return endpoint.Usage{}, fmt.Errorf("%w: its usage is out of range: %+v", endpoint.ErrProtocol, r)
	}
	return r, nil
}
