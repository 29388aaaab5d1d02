// Package a2aroom lets agents of the Agent2Agent protocol 1.0 take part in rooms: a
// room has an agent card, and a message to it is a task that ends when the room rests
// (https://a2a-protocol.org/v1.0.0/specification).
package a2aroom

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/limiter"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// A Room is the room of one request, as its sender may see and use it.
type Room interface {
	ID() string
	// Say posts a message of the sender and returns its sequence number. The same id
	// again posts nothing.
	Say(ctx context.Context, id, text string) (seq int64, err error)
	// Watch yields the events after a sequence number that the sender may see, until
	// the room ends or ctx does.
	Watch(ctx context.Context, after int64) iter.Seq2[coordinator.Update, error]
	// View returns the room as the sender sees it.
	View(ctx context.Context) (room.View, error)
}

// maxTasks is how many tasks may run at once in all rooms.
const maxTasks = 64

// Handler serves the JSON-RPC binding. find returns the room of a request by its
// context.
func Handler(find func(context.Context) (Room, error), log *slog.Logger) http.Handler {
	e := &executor{find}
	s := newStore(e.roomOf)
	h := a2asrv.NewHandler(e,
		a2asrv.WithTaskStore(s), a2asrv.WithLogger(log), a2asrv.WithCapabilityChecks(&capabilities),
		a2asrv.WithConcurrencyConfig(limiter.ConcurrencyConfig{MaxExecutions: maxTasks}),
		a2asrv.WithExecutionPanicHandler(panicked),
	)
	return a2asrv.NewJSONRPCHandler(checked{h, s}, a2asrv.WithTransportPanicHandler(panicked))
}

// panicked makes a panic of the SDK the error of its request. A task runs in a
// goroutine of its own, where a panic would end the process.
func panicked(r any) error { return fmt.Errorf("%w: %v", a2a.ErrInternalError, r) }

// checked refuses requests for a task of another room, which the SDK would serve while
// the task runs.
type checked struct {
	a2asrv.RequestHandler
	store *store
}

// CancelTask implements [a2asrv.RequestHandler].
func (c checked) CancelTask(ctx context.Context, r *a2a.CancelTaskRequest) (*a2a.Task, error) {
	if _, err := c.store.Get(ctx, r.ID); err != nil {
		return nil, err
	}
	return c.RequestHandler.CancelTask(ctx, r)
}

// SubscribeToTask implements [a2asrv.RequestHandler].
func (c checked) SubscribeToTask(ctx context.Context, r *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	if _, err := c.store.Get(ctx, r.ID); err != nil {
		return func(yield func(a2a.Event, error) bool) { yield(nil, err) }
	}
	return c.RequestHandler.SubscribeToTask(ctx, r)
}

// executor turns messages to a room into tasks.
type executor struct {
	find func(context.Context) (Room, error)
}

func (e *executor) roomOf(ctx context.Context) (string, error) {
	r, err := e.find(ctx)
	if err != nil {
		return "", err
	}
	return r.ID(), nil
}

// Execute implements [a2asrv.AgentExecutor]. The message becomes one of the room. The
// task has each message that follows as an artifact, and ends when the room rests.
func (e *executor) Execute(ctx context.Context, x *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		r, err := e.find(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		text, err := textOf(x.Message)
		if err != nil {
			yield(nil, err)
			return
		}
		seq, err := r.Say(ctx, "a2a-"+x.Message.ID, text)
		if err != nil {
			yield(nil, fmt.Errorf("%w: %w", a2a.ErrInvalidRequest, err))
			return
		}
		if x.StoredTask == nil && !yield(a2a.NewSubmittedTask(x, x.Message), nil) {
			return
		}
		v, err := r.View(ctx)
		if err == nil && v.Phase == room.PhasePaused {
			yield(status(x, a2a.TaskStateInputRequired, v.Ending.Reason), nil) // a person has to go on
			return
		}
		if yield(a2a.NewStatusUpdateEvent(x, a2a.TaskStateWorking, nil), nil) {
			follow(ctx, r, x, seq, yield)
		}
	}
}

// follow yields what happens in the room after seq, up to the end of the task.
func follow(ctx context.Context, r Room, x a2a.TaskInfoProvider, seq int64, yield func(a2a.Event, error) bool) {
	for u, err := range r.Watch(ctx, seq) {
		if err != nil {
			yield(status(x, a2a.TaskStateFailed, err.Error()), nil)
			return
		}
		if u.Event == nil {
			continue
		}
		if m, ok := u.Event.Body.(room.MessagePosted); ok {
			if !yield(artifact(x, m.Message), nil) {
				return
			}
			continue
		}
		if state, why := ended(u.Event.Body); state != "" {
			yield(status(x, state, why), nil)
			return
		}
	}
	v, err := r.View(ctx)
	if err != nil {
		yield(status(x, a2a.TaskStateFailed, err.Error()), nil)
		return
	}
	yield(status(x, stateOf(v.Phase), v.Ending.Reason), nil) // the host has stopped
}

// Cancel implements [a2asrv.AgentExecutor]. Only the task ends: the room belongs to
// its people.
func (e *executor) Cancel(_ context.Context, x *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(status(x, a2a.TaskStateCanceled, "canceled by its sender; the room goes on"), nil)
	}
}

// ended returns the state of a task after an event that ends it.
func ended(b room.Body) (state a2a.TaskState, why string) {
	switch b := b.(type) {
	case room.Completed:
		return a2a.TaskStateCompleted, b.Reason
	case room.Paused:
		return a2a.TaskStateInputRequired, b.Reason
	case room.Stopped:
		return a2a.TaskStateFailed, b.Reason
	case room.Errored:
		return a2a.TaskStateFailed, b.Reason
	}
	return "", ""
}

// stateOf returns the state of a task in a room of that phase.
func stateOf(p room.Phase) a2a.TaskState {
	switch p {
	case room.PhaseCompleted:
		return a2a.TaskStateCompleted
	case room.PhasePaused, room.PhaseLive:
		return a2a.TaskStateInputRequired
	}
	return a2a.TaskStateFailed
}

// textOf returns the text of a message of a client. Other parts are refused: a room
// has texts only.
func textOf(m *a2a.Message) (string, error) {
	var texts []string
	for _, p := range m.Parts {
		if p == nil {
			return "", fmt.Errorf("%w: a part is null", a2a.ErrInvalidParams)
		}
		text, ok := p.Content.(a2a.Text)
		if !ok {
			return "", fmt.Errorf("%w: a room takes text only", a2a.ErrUnsupportedContentType)
		}
		texts = append(texts, string(text))
	}
	return strings.Join(texts, "\n\n"), nil
}

// artifact returns what a participant has said, with its id as the name.
func artifact(x a2a.TaskInfoProvider, m room.Message) *a2a.TaskArtifactUpdateEvent {
	e := a2a.NewArtifactEvent(x, a2a.NewTextPart(m.Text))
	e.Artifact.Name, e.LastChunk = m.From, true
	return e
}

// status returns an update with a reason as its message.
func status(x a2a.TaskInfoProvider, state a2a.TaskState, why string) *a2a.TaskStatusUpdateEvent {
	var m *a2a.Message
	if why != "" {
		m = a2a.NewMessageForTask(a2a.MessageRoleAgent, x, a2a.NewTextPart(why))
	}
	return a2a.NewStatusUpdateEvent(x, state, m)
}
