package a2a

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	api "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/webclient"
)

// A Config says which agent answers.
type Config struct {
	URL   string // of the server, without /.well-known; http only on this machine
	Token string // sent as the bearer token; "" sends none

	Transport http.RoundTripper // nil is one of its own with the proxy of the environment
}

// An Endpoint asks an agent. Its methods may be called concurrently.
type Endpoint struct {
	cfg     Config
	base    string // the URL without a slash at its end
	http    *http.Client
	turns   *webclient.Turns
	secret  webclient.Secret // the token
	cancels sync.WaitGroup   // of tasks

	mu    sync.Mutex
	agent *agent // nil before its card was read

	open openTask // of the turn in flight
}

// An openTask is a task that waits for the next turn of a room.
type openTask struct {
	context string
	id      api.TaskID
	agent   *agent
}

// New returns an endpoint for an agent. It connects when it is started or asked.
func New(cfg Config) *Endpoint {
	cfg.Token = strings.TrimSpace(cfg.Token)
	if cfg.Transport == nil {
		cfg.Transport = webclient.NewBase()
	}
	e := &Endpoint{cfg: cfg, base: strings.TrimRight(cfg.URL, "/"), turns: webclient.NewTurns(), secret: webclient.Secret{Token: cfg.Token, Word: "[token]"}}
	e.http = &http.Client{Transport: transport{webclient.Transport{Base: cfg.Transport, MaxLine: maxLine}, cfg.Token}}
	return e
}

// Start gets the agent card and checks that the agent can be asked.
func (e *Endpoint) Start(ctx context.Context, _ endpoint.Floor) error {
	call, done := e.turns.Bound(ctx)
	defer done()
	if _, err := e.connect(call, true); err != nil {
		return e.problem(ctx, call, err)
	}
	return nil
}

// Speak asks the agent for a turn. A bid is a pass at once. Errors wrap endpoint's:
// ErrBusy, ErrClosed, ErrTimeout, ErrTooLarge, ErrProtocol and ErrAgent. A broken
// protocol is raised as a violation too.
func (e *Endpoint) Speak(ctx context.Context, p endpoint.Prompt, floor endpoint.Floor) (endpoint.Reply, error) {
	ask := func(call context.Context) (endpoint.Reply, error) { return e.ask(call, p, floor) }
	return e.turns.Speak(ctx, p, floor, ask, func(call context.Context, err error) error { return e.problem(ctx, call, err) })
}

// Close ends the request in flight, cancels the task that is left, and waits for
// both.
func (e *Endpoint) Close() error {
	e.turns.Close(func() {
		if e.open.id != "" {
			e.cancel(e.open.agent, e.open.id)
		}
		e.cancels.Wait()
	})
	return nil
}

// ask sends p and reads the answer.
func (e *Endpoint) ask(ctx context.Context, p endpoint.Prompt, floor endpoint.Floor) (endpoint.Reply, error) {
	agent, err := e.connect(ctx, false)
	if err != nil {
		return endpoint.Reply{}, err
	}
	a := answer{limit: p.MaxOutputChars, show: func(string) {}}
	if floor != nil {
		a.show = func(text string) {
			if text != "" {
				floor.Show(e.secret.Redact(text))
			}
		}
	}
	m := api.NewMessage(api.MessageRoleUser, api.NewTextPart(endpoint.PlainInstructions(p)+"\n\n"+p.Text))
	m.ID, m.ContextID = p.Request, contextID(p)
	if e.open.context == m.ContextID {
		m.TaskID, a.task = e.open.id, e.open.id
	}
	e.open = openTask{}
	err = e.exchange(ctx, agent, m, &a)
	var reply endpoint.Reply
	if err == nil {
		reply, err = a.reply(p, e.secret.Redact)
	}
	switch {
	case a.task == "" || a.state.Terminal():
	case err == nil && a.state == api.TaskStateInputRequired:
		e.open = openTask{m.ContextID, a.task, agent}
	default:
		e.cancel(agent, a.task)
	}
	return reply, err
}

// exchange sends a message and adds what comes to a, until the answer is final or
// over its limit.
func (e *Endpoint) exchange(ctx context.Context, g *agent, m *api.Message, a *answer) (err error) {
	defer recovered(&err)
	none := 0
	request := &api.SendMessageRequest{Message: m, Config: &api.SendMessageConfig{HistoryLength: &none}}
	reads, failed := recordReads(ctx)
	for event, err := range g.SendStreamingMessage(reads, request) {
		if err != nil {
			return unread(cmp.Or(*failed, err))
		}
		if err := a.take(event); err != nil || a.ended() {
			return err
		}
	}
	if g.streams || a.task == "" {
		return errCut
	}
	return e.poll(ctx, g, a)
}

// Delays of polling. Each is twice the one before.
const (
	minPoll = 250 * time.Millisecond
	maxPoll = 5 * time.Second
)

// poll waits for a task of a server that answers before the task has ended.
func (e *Endpoint) poll(ctx context.Context, g *agent, a *answer) error {
	none := 0
	for delay := minPoll; !a.ended(); delay = min(2*delay, maxPoll) {
		if err := webclient.Sleep(ctx, delay); err != nil {
			return err
		}
		task, err := g.GetTask(ctx, &api.GetTaskRequest{ID: a.task, HistoryLength: &none})
		if err != nil {
			return err
		}
		if err := a.take(task); err != nil {
			return err
		}
	}
	return nil
}

// cancelTimeout bounds the request to cancel a task.
const cancelTimeout = 2 * time.Second

// cancel tells the agent that nothing waits for a task. It does not wait for the
// answer.
func (e *Endpoint) cancel(g *agent, id api.TaskID) {
	e.cancels.Go(func() {
		ctx, done := context.WithTimeout(context.Background(), cancelTimeout)
		defer done()
		var err error
		defer recovered(&err)
		_, err = g.CancelTask(ctx, &api.CancelTaskRequest{ID: id}) // the turn has ended in any case
	})
}

// contextID returns the id of what an agent may remember of p. Rooms of different
// owners have different ids, even if their hosts claim the same room.
func contextID(p endpoint.Prompt) string {
	b, _ := json.Marshal([]string{"moot a2a context 1", p.Host.Device, p.Room, p.You.ID, p.Profile}) // strings are always JSON
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
