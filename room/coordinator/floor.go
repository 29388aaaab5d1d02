package coordinator

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/folkmoot/moot/endpoints/allow"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/delivery"
)

// A floor lets one endpoint raise signals in the room; see [endpoint.Floor].
type floor struct {
	room        *Room
	participant string
	foreign     bool // the agent is of another owner
	called      bool // the room is the child room of a call
	rules       []endpoint.AllowRule
	dir         string // of the room

	mu     sync.Mutex
	prompt *prompted // nil between prompts
	held   func()    // starts the clock of the prompt again; nil while it runs
}

// A prompted is the prompt on which an agent works.
type prompted struct {
	ctx     context.Context // with the clock of the turn
	request string
}

func newFloor(r *Room, p room.Participant) *floor {
	return &floor{
		room: r, participant: p.ID, foreign: p.Kind == policy.Remote || p.Device != "" || p.Owner != "",
		called: r.state.Spec.Call != nil, rules: p.Allow, dir: r.state.Spec.Dir,
	}
}

// enter says on which prompt the agent works until leave is called.
func (f *floor) enter(ctx context.Context, request string) (leave func()) {
	p := &prompted{ctx, request}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.prompt = p
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.prompt == p {
			f.prompt = nil
			f.release()
		}
	}
}

// release starts the clock of the prompt again. The caller holds mu.
func (f *floor) release() {
	if f.held != nil {
		f.held()
		f.held = nil
	}
}

// holdForCalls stops the clock of the prompt, or lets it run.
func (f *floor) holdForCalls(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !on:
		f.release()
	case f.held == nil && f.prompt != nil:
		f.held = endpoint.Hold(f.prompt.ctx)
	}
}

func (f *floor) current() *prompted {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.prompt
}

// Raise gives s to the loop as a command and waits for its result.
func (f *floor) Raise(ctx context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	var do room.Act
	switch s.Kind {
	case endpoint.SignalMessage:
		do = room.Posted{Message: messageOf(s)}
	case endpoint.SignalAck:
		return f.acknowledge(ctx, s.Of)
	case endpoint.SignalClaim:
		do = room.ClaimTask{Task: s.Code}
	case endpoint.SignalViolation:
		do = room.Violated{Participant: f.participant, Code: s.Code, Detail: s.Detail}
	case endpoint.SignalForgot:
		do = room.Forgot{Participant: f.participant}
	case endpoint.SignalExited:
		do = room.Exited{Participant: f.participant, Code: s.Code, Error: s.Detail}
	case endpoint.SignalLate:
		do = room.Replied{Participant: f.participant, Request: s.Code, Reply: endpoint.Reply{Text: s.Detail}}
	case endpoint.SignalPermission:
		return f.permission(ctx, s.Permission)
	case endpoint.SignalCall:
		return f.call(ctx, s.Body)
	default:
		return endpoint.Answer{Reason: "not allowed in this room"}, nil
	}
	events, err := f.tell(ctx, ctx, do)
	if err == nil {
		err = refusalOf(events)
	}
	a, err := f.answer(err)
	if a.Allowed && s.Post != nil {
		a.Body = f.receipt(ctx, s.Post.ID, events)
	}
	return a, err
}

// receipt returns what has become of a message that the agent has posted, as JSON; nil if
// the room does not know. A repetition has no events.
func (f *floor) receipt(ctx context.Context, id string, events []room.Event) []byte {
	for _, e := range events {
		if b, ok := e.Body.(room.MessagePosted); ok && b.Message.From == f.participant {
			id = b.Message.ID
		}
	}
	r, err := f.room.Receipt(ctx, id)
	if err != nil {
		return nil
	}
	b, err := json.Marshal(struct {
		ID     string         `json:"message_id"`
		State  delivery.State `json:"state"`
		Reason string         `json:"reason,omitempty"`
	}{id, r.State, r.Reason})
	if err != nil {
		return nil
	}
	return b
}

// acknowledge acknowledges messages to the agent, and says which of them the room
// refuses.
func (f *floor) acknowledge(ctx context.Context, ids []string) (endpoint.Answer, error) {
	all := endpoint.Answer{Allowed: true, Reasons: make([]string, len(ids))}
	for i, id := range ids {
		_, err := f.tell(ctx, ctx, room.Ack{Message: id})
		a, err := f.answer(err)
		if err != nil {
			return endpoint.Answer{}, err
		}
		if !a.Allowed {
			all.Allowed, all.Reason, all.Reasons[i] = false, a.Reason, a.Reason
		}
	}
	return all, nil
}

// messageOf returns the message that an agent posts.
func messageOf(s endpoint.Signal) room.Message {
	p := s.Post
	if p == nil {
		return room.Message{To: s.To, Text: s.Detail}
	}
	return room.Message{
		ID: p.ID, To: p.To, Kind: p.Kind, Text: p.Text, Summary: p.Summary, Payload: policy.JSON(p.Payload), Priority: p.Priority, RequiresAck: p.RequiresAck,
		Correlation: p.Correlation, Parent: p.Parent, Thread: p.Thread, Visibility: room.Visibility(p.Visibility), Notify: p.Notify,
	}
}

// refusalOf returns why the room has refused the message of a command, or nil.
func refusalOf(events []room.Event) error {
	if err := room.Refusal(events); err != nil {
		return refusedError{err}
	}
	return nil
}

// answer is the answer to a signal that is a command with that error.
func (f *floor) answer(err error) (endpoint.Answer, error) {
	if refused, ok := errors.AsType[refusedError](err); ok {
		return refuse(refused.error), nil
	}
	return endpoint.Answer{Allowed: err == nil}, err
}

// A refusedError is why the room has refused a command.
type refusedError struct{ error }

// tell gives a command of the agent to the loop while sending lasts, and waits for
// its result while waiting lasts. It returns a refusedError if the room refuses it.
func (f *floor) tell(sending, waiting context.Context, do room.Act) ([]room.Event, error) {
	out := make(chan answer, 1)
	select {
	case f.room.work <- request{cmd: room.Command{Actor: f.participant, Do: do}, out: out}:
	case <-f.room.quit:
		return nil, ErrClosed
	case <-sending.Done():
		return nil, sending.Err()
	}
	select {
	case a := <-out:
		if a.err != nil {
			return nil, refusedError{a.err}
		}
		return a.events, nil
	case <-f.room.quit:
		return nil, ErrClosed
	case <-waiting.Done():
		return nil, waiting.Err()
	}
}

// Show passes live text to watchers.
func (f *floor) Show(delta string) {
	f.room.hub.tell(Update{Participant: f.participant, Delta: delta})
}

// ShowTool passes a tool call to watchers. Those of another owner's agent stay on its
// device.
func (f *floor) ShowTool(call endpoint.ToolCall) {
	if call = call.Bounded(); !f.foreign {
		f.room.hub.tell(Update{Participant: f.participant, Tool: &call})
	}
}

// permission asks the owner of the agent for a permission: the rules first, then a
// person if one can be there. The clock of the turn is stopped meanwhile. When ctx ends
// the request is withdrawn.
func (f *floor) permission(ctx context.Context, p *endpoint.Permission) (endpoint.Answer, error) {
	if f.foreign || p == nil { // an agent of another owner is answered where it runs
		_, err := f.tell(ctx, ctx, room.Violated{Participant: f.participant, Code: "permission", Detail: "it asks for a permission that is not for this device to give"})
		return endpoint.Answer{By: endpoint.Unasked, Reason: "only the owner of an agent permits its actions, on the agent's device"}, err
	}
	work := f.current()
	if work == nil {
		return endpoint.Answer{By: endpoint.Unasked, Reason: "permissions are given in a turn only"}, nil
	}
	defer endpoint.Hold(work.ctx)()
	do := room.Asked{Request: work.request, Permission: *p}
	if a, ok := allow.Answer(f.rules, f.dir, *p); ok {
		do.Answer = &a
	}
	return f.ask(ctx, do)
}

// signIn asks the owner of a called agent to sign in, and reports whether that is done.
// The call waits meanwhile. In other rooms the turn fails.
func (f *floor) signIn(ctx context.Context, why error) bool {
	work := f.current()
	if !f.called || work == nil {
		return false
	}
	defer endpoint.Hold(work.ctx)()
	p := endpoint.Permission{ID: room.ActionSignIn, Title: "sign in to " + f.participant + ", then allow this", Detail: why.Error()}
	a, err := f.ask(ctx, room.Asked{Request: work.request, Permission: p, SignIn: true})
	return err == nil && a.Allowed
}

// ask records a permission request and waits for its answer.
func (f *floor) ask(ctx context.Context, do room.Asked) (endpoint.Answer, error) {
	if do.Answer == nil && (f.room.cfg.Headless || f.room.cfg.Unattended) {
		do.Answer = &endpoint.Answer{By: endpoint.Unasked, Reason: endpoint.AbsentReason(do.Permission.Question != nil)}
	}
	events, err := f.tell(ctx, context.WithoutCancel(ctx), do) // not cancelled: the result has the id to withdraw
	if err != nil {
		a, err := f.answer(err)
		a.By = endpoint.Unasked
		return a, err
	}
	asked, ok := events[0].Body.(room.PermissionAsked)
	if !ok {
		return endpoint.Answer{}, errors.New("the room has recorded no permission request")
	}
	return f.await(ctx, asked.ID)
}

// await waits for the answer to the request with id.
func (f *floor) await(ctx context.Context, id string) (endpoint.Answer, error) {
	answered := f.room.requests.of(id)
	defer f.room.requests.forget(id)
	select {
	case a := <-answered:
		return a, nil
	case <-f.room.quit:
		return endpoint.Answer{}, ErrClosed
	case <-ctx.Done():
		if f.room.passGate(); len(answered) > 0 {
			return <-answered, nil
		}
		_, err := f.tell(context.WithoutCancel(ctx), context.WithoutCancel(ctx), room.Withdrawn{ID: id})
		if err != nil {
			return endpoint.Answer{}, err
		}
		return endpoint.Answer{}, ctx.Err()
	}
}

// passGate waits while the gate is closed. A pause cancels the work before its command is
// recorded; what ends for that reason is told by the command, which knows why.
func (r *Room) passGate() {
	if open := r.gate.whenOpen(); open != nil {
		select {
		case <-open:
		case <-r.quit:
		}
	}
}

// requests hold the answers to permission requests until their floors take them.
type requests struct {
	mu      sync.Mutex
	answers map[string]chan endpoint.Answer // by the id of the request; each takes one answer
}

// update learns of requests and answers from the events of a command.
func (r *requests) update(events []room.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range events {
		switch b := e.Body.(type) {
		case room.PermissionAsked:
			if r.answers == nil {
				r.answers = map[string]chan endpoint.Answer{}
			}
			r.answers[b.ID] = make(chan endpoint.Answer, 1)
		case room.PermissionAnswered:
			if c, ok := r.answers[b.ID]; ok {
				c <- endpoint.Answer{Allowed: b.Allowed, Always: b.Always, By: b.By, Reason: b.Reason, Body: b.Values}
			}
		}
	}
}

func (r *requests) of(id string) <-chan endpoint.Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answers[id]
}

func (r *requests) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.answers, id)
}
