package a2a

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	api "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/webclient"
)

// errCut means that a stream ended before the answer did.
var errCut = fmt.Errorf("%w: the answer was cut before its end", endpoint.ErrProtocol)

// An answer is what the events of a turn add up to.
type answer struct {
	limit int          // of the artifacts in characters; 0 is none
	show  func(string) // gets the text as it comes

	task      api.TaskID // "" if there is none
	state     api.TaskState
	message   string // of the agent, or of the state
	artifacts []*artifact
	byID      map[api.ArtifactID]*artifact
	length    int             // of the artifacts in characters
	left      map[string]bool // parts that are no text
}

// An artifact is the text of one.
type artifact struct {
	text   strings.Builder
	length int // in characters
}

// take adds an event.
func (a *answer) take(event api.Event) error {
	switch e := event.(type) {
	case *api.Message:
		a.message, a.state = a.text(e.Parts, "\n\n"), api.TaskStateCompleted
		a.artifacts, a.byID = nil, nil
		a.show(a.message)
		return nil
	case *api.Task:
		return a.takeTask(e)
	case *api.TaskStatusUpdateEvent:
		if err := a.of(e.TaskID); err != nil {
			return err
		}
		return a.takeStatus(e.Status)
	case *api.TaskArtifactUpdateEvent:
		if err := a.of(e.TaskID); err != nil {
			return err
		}
		a.show(a.takeArtifact(e.Artifact, e.Append))
		return nil
	}
	return fmt.Errorf("%w: an answer that is no message and no task", endpoint.ErrProtocol)
}

// takeTask replaces what is known of the task.
func (a *answer) takeTask(t *api.Task) error {
	if err := a.of(t.ID); err != nil {
		return err
	}
	a.artifacts, a.byID, a.length = nil, nil, 0
	for _, x := range t.Artifacts {
		a.takeArtifact(x, false)
	}
	return a.takeStatus(t.Status)
}

// of checks that an event is of the task of this turn.
func (a *answer) of(id api.TaskID) error {
	switch {
	case id == "":
		return fmt.Errorf("%w: a task without an id", endpoint.ErrProtocol)
	case a.task != "" && id != a.task:
		return fmt.Errorf("%w: an event of another task", endpoint.ErrProtocol)
	}
	a.task = id
	return nil
}

// takeStatus notes the state of the task. Watchers see the text of one that is not
// the last.
func (a *answer) takeStatus(s api.TaskStatus) error {
	before := a.message
	a.state, a.message = s.State, ""
	if s.Message != nil {
		a.message = a.text(s.Message.Parts, "\n\n")
	}
	if !a.final() && a.message != "" && a.message != before {
		a.show(a.message + "\n")
	}
	if !a.final() && a.state != api.TaskStateSubmitted && a.state != api.TaskStateWorking {
		return fmt.Errorf("%w: a task in the unknown state %s", endpoint.ErrProtocol, a.state)
	}
	return nil
}

// takeArtifact adds the text of an artifact, or appends it to the earlier text of
// the artifact, and returns it.
func (a *answer) takeArtifact(x *api.Artifact, more bool) string {
	if x == nil {
		return ""
	}
	text := a.text(x.Parts, "")
	have := a.byID[x.ID]
	switch {
	case have == nil && text == "":
		return ""
	case have == nil:
		have = &artifact{}
		if a.byID == nil {
			a.byID = map[api.ArtifactID]*artifact{}
		}
		a.byID[x.ID] = have
		a.artifacts = append(a.artifacts, have)
	case !more:
		a.length -= have.length
		*have = artifact{}
	}
	n := utf8.RuneCountInString(text)
	have.text.WriteString(text)
	have.length += n
	a.length += n
	return text
}

// text returns the text of parts, and tells watchers what it leaves out.
func (a *answer) text(parts api.ContentParts, between string) string {
	var all []string
	for _, p := range parts {
		switch {
		case p == nil:
		case p.Text() != "":
			all = append(all, p.Text())
		case p.Raw() != nil || p.URL() != "" || p.Data() != nil:
			a.leaveOut(endpoint.CleanLine(cmp.Or(p.Filename, p.MediaType, "a part that is no text"), 80))
		}
	}
	return strings.Join(all, between)
}

// leaveOut tells watchers once that a part is left out.
func (a *answer) leaveOut(what string) {
	if a.left[what] {
		return
	}
	if a.left == nil {
		a.left = map[string]bool{}
	}
	a.left[what] = true
	a.show("[left out: " + what + "]\n")
}

// final reports whether the state is one in which the agent works no longer, or waits
// for a person.
func (a *answer) final() bool {
	return a.state.Terminal() || a.state == api.TaskStateInputRequired || a.state == api.TaskStateAuthRequired
}

// ended reports whether nothing more is needed for the reply.
func (a *answer) ended() bool { return a.final() || a.limit > 0 && a.length > a.limit }

// inputReason is the reason of a reply that is a question.
const inputReason = "the agent asks for input"

// reply returns the reply to p.
func (a *answer) reply(p endpoint.Prompt, redact func(string) string) (endpoint.Reply, error) {
	words := endpoint.CleanLine(redact(a.message), webclient.MaxReason)
	switch a.state {
	case api.TaskStateRejected:
		return endpoint.Reply{Outcome: endpoint.Refused, Reason: cmp.Or(words, "the agent has rejected the task")}, nil
	case api.TaskStateFailed:
		return endpoint.Reply{}, agentError("its task failed: "+cmp.Or(words, "it says no reason"), "see the log of the agent")
	case api.TaskStateCanceled:
		return endpoint.Reply{}, agentError("it canceled the task: "+cmp.Or(words, "it says no reason"), "see the log of the agent")
	case api.TaskStateAuthRequired:
		what := "the agent gives no answer: it asks to sign in: " + cmp.Or(words, "it does not say where")
		return endpoint.Reply{}, codedError("AGENT-ERROR", what, "sign in at the agent or the service that it names, and give it another turn", endpoint.ErrSignIn)
	}
	var all []string
	for _, x := range a.artifacts {
		if x.length > 0 {
			all = append(all, x.text.String())
		}
	}
	text := strings.Join(all, "\n\n")
	if a.state == api.TaskStateInputRequired && a.message != "" {
		all = append(all, a.message)
		text = strings.Join(all, "\n\n")
	}
	r, err := endpoint.PlainAnswer(redact(cmp.Or(text, a.message)), p)
	if a.state == api.TaskStateInputRequired && r.Outcome == endpoint.Said {
		r.Reason = inputReason
	}
	return r, err
}

// recovered turns a panic of the library into an error. Version 2.3.1 panics on a
// null among the details of an error, which any server may send.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = errors.Join(*err, fmt.Errorf("%w: an answer that the A2A library cannot read: %v", endpoint.ErrProtocol, v))
	}
}
