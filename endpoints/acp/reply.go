package acp

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
)

// reply returns the reply of a turn that has ended, or its error. A reply with an
// error has at most a usage.
func (c *client) reply(t *turn) (endpoint.Reply, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := t.outcome()
	if errors.Is(err, endpoint.ErrTooLarge) && t.failed == nil {
		c.signals.Violation("too_large", err.Error())
	}
	if err != nil {
		return endpoint.Reply{Usage: t.spent}, c.explain(err)
	}
	r.Usage, r.Tools = t.spent, t.tools(t.order, c.redact)
	return r, nil
}

// outcome returns what the turn says, without its usage.
func (t *turn) outcome() (endpoint.Reply, error) {
	text := strings.TrimSpace(string(t.text))
	switch {
	case t.failed != nil:
		return endpoint.Reply{}, t.failed.problem()
	case t.err != nil:
		return endpoint.Reply{}, t.err
	case text != "" && t.latest != "" && !t.stated(): // the answer has broken off, and the notice says why
		return endpoint.Reply{}, faultf("", endpoint.ErrAgent, "%s", endpoint.CleanLine(t.latest, maxReason)).problem()
	case t.over || utf8.RuneCountInString(text) > t.prompt.MaxOutputChars:
		return endpoint.Reply{}, faultf("too_large", endpoint.ErrTooLarge, "the limit is %d characters", t.prompt.MaxOutputChars).problem()
	case t.result.StopReason == stopRefusal:
		return endpoint.Reply{Outcome: endpoint.Refused, Reason: cmp.Or(endpoint.CleanLine(text, maxReason), "the agent refuses to answer")}, nil
	case len(t.refused) > 0 && (text == "" || t.result.StopReason == stopCancelled):
		return endpoint.Reply{Outcome: endpoint.Passed, Reason: strings.Join(t.refused, "; ")}, nil
	case t.result.StopReason == stopCancelled:
		return endpoint.Reply{}, faultf("", endpoint.ErrAgent, "it has cancelled the turn").problem()
	case text == "":
		return endpoint.Reply{}, faultf("", endpoint.ErrAgent, "%s", t.silence()).problem()
	}
	r, err := endpoint.PlainAnswer(text, t.prompt)
	if err == nil && r.Outcome == endpoint.Said {
		r.Reason = t.cut()
		r.Cut = r.Reason != ""
	}
	return r, err
}

// silence says why a turn has no text.
func (t *turn) silence() string {
	switch notices := endpoint.CleanLine(string(t.notices), maxReason); {
	case notices != "":
		return notices
	case len(t.calls) > 0:
		return "it said nothing after its last tool call; say: all takes what it said before too"
	case t.result.StopReason != stopEnd:
		return "it said nothing, and stopped because of " + endpoint.Quote(t.result.StopReason)
	}
	return "it said nothing"
}

// cut says that the answer is not complete, or "".
func (t *turn) cut() string {
	switch t.result.StopReason {
	case stopEnd, "":
		return ""
	case stopTokens:
		return "cut: the model reached its limit of tokens"
	case stopRequests:
		return "cut: the agent reached its limit of requests to the model"
	}
	return "cut: the agent stopped because of " + endpoint.Quote(t.result.StopReason)
}

// codeSignIn is the code of the error of an agent that is not signed in.
const codeSignIn = "AGENT-SIGNIN"

// explain returns an error of the connection or of the agent as the room sees it.
func (c *client) explain(err error) error {
	if refused, ok := errors.AsType[*rpcError](err); ok {
		text := c.redact(refused.describe())
		if refused.Code == codeSignedOut {
			how := cmp.Or(c.cfg.Preset.SignIn, "sign in with the agent's own program") // the timeline shows no fix
			return codedError(codeSignIn, "the agent is not signed in ("+strings.TrimSuffix(text, ".")+"): "+how, "`moot doctor` tests whether the agents are signed in", endpoint.ErrSignIn)
		}
		return codedError("AGENT-ERROR", "the agent reports an error: "+text, "fix what the agent reports", endpoint.ErrAgent)
	}
	if coded, ok := errors.AsType[*problem.Error](err); ok {
		shown := *coded // it may quote a notice of the agent
		shown.What = c.redact(coded.What)
		return &shown
	}
	return codedError("AGENT-ERROR", fmt.Sprint(err), "see the agent's own log", errors.Join(endpoint.ErrAgent, err))
}
