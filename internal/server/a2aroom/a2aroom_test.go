package a2aroom_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/folkmoot/moot/internal/server/a2aroom"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// A fakeRoom answers each message with the bodies that script has for it. Without a
// script the room stays live until ctx ends, unless it is brief.
type fakeRoom struct {
	id     string
	script map[string][]room.Body
	brief  bool

	mu   sync.Mutex
	said []string
	ids  []string
}

func (f *fakeRoom) ID() string { return f.id }

func (f *fakeRoom) Say(_ context.Context, id, text string) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if text == "refuse" {
		return 0, errors.New("the room has ended")
	}
	f.said, f.ids = append(f.said, text), append(f.ids, id)
	return int64(len(f.said)), nil
}

func (f *fakeRoom) Watch(ctx context.Context, after int64) iter.Seq2[coordinator.Update, error] {
	f.mu.Lock()
	bodies, ok := f.script[f.said[after-1]]
	f.mu.Unlock()
	return func(yield func(coordinator.Update, error) bool) {
		if !ok && !f.brief {
			<-ctx.Done()
			return
		}
		for _, b := range bodies {
			if !yield(coordinator.Update{Delta: "live text is no artifact"}, nil) || !yield(coordinator.Update{Event: &room.Event{Body: b}}, nil) {
				return
			}
		}
	}
}

func (f *fakeRoom) View(context.Context) (room.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Contains(f.said, "paused before") {
		return room.View{Room: f.id, Phase: room.PhasePaused, Ending: room.Ending{Reason: "paused by ann"}}, nil
	}
	return room.View{Room: f.id, Phase: room.PhaseLive, Ending: room.Ending{Reason: "the host has ended"}}, nil
}

func posted(from, text string) room.Body {
	return room.MessagePosted{Message: room.Message{From: from, Text: text}}
}

// serve serves rooms by the path of a request and returns a client of each.
func serve(t *testing.T, rooms ...*fakeRoom) []*a2aclient.Client {
	t.Helper()
	type key struct{}
	h := a2aroom.Handler(func(ctx context.Context) (a2aroom.Room, error) {
		i := slices.IndexFunc(rooms, func(r *fakeRoom) bool { return "/"+r.id == ctx.Value(key{}) })
		if i < 0 {
			return nil, errors.New("no such room")
		}
		return rooms[i], nil
	}, slog.New(slog.DiscardHandler))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, r.URL.Path)))
	}))
	t.Cleanup(web.Close)
	var clients []*a2aclient.Client
	for _, r := range rooms {
		c, err := a2aclient.NewFromEndpoints(t.Context(), []*a2a.AgentInterface{a2a.NewAgentInterface(web.URL+"/"+r.id, a2a.TransportProtocolJSONRPC)})
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, c)
	}
	return clients
}

func send(t *testing.T, c *a2aclient.Client, text string) (*a2a.Task, error) {
	t.Helper()
	got, err := c.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))})
	if err != nil {
		return nil, err
	}
	return got.(*a2a.Task), nil
}

// TestTask checks how each end of a room ends a task, and what the task has.
func TestTask(t *testing.T) {
	r := &fakeRoom{id: "r1", script: map[string][]room.Body{
		"settle":   {posted("ann", "hello"), room.RoundDeclined{}, posted("bob", "hi"), room.Completed{Reason: "settled"}},
		"pause":    {room.Paused{Reason: "paused by eve"}},
		"stop":     {posted("ann", "hello"), room.Stopped{Reason: "limit maxTurns"}},
		"error":    {room.Errored{Reason: "the log failed"}},
		"shutdown": {},
	}}
	c := serve(t, r)[0]
	for text, want := range map[string]struct {
		state     a2a.TaskState
		why, said string
	}{
		"settle":   {a2a.TaskStateCompleted, "settled", "ann: hello, bob: hi"},
		"pause":    {a2a.TaskStateInputRequired, "paused by eve", ""},
		"stop":     {a2a.TaskStateFailed, "limit maxTurns", "ann: hello"},
		"error":    {a2a.TaskStateFailed, "the log failed", ""},
		"shutdown": {a2a.TaskStateInputRequired, "the host has ended", ""},
	} {
		task, err := send(t, c, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var said []string
		for _, a := range task.Artifacts {
			said = append(said, a.Name+": "+a.Parts[0].Text())
		}
		if got := strings.Join(said, ", "); task.Status.State != want.state || task.Status.Message.Parts[0].Text() != want.why || got != want.said {
			t.Errorf("%s: %s, %q, said %q", text, task.Status.State, task.Status.Message.Parts[0].Text(), got)
		}
	}
	if task, err := send(t, c, "paused before"); err != nil || task.Status.State != a2a.TaskStateInputRequired {
		t.Errorf("in a paused room: %+v, error %v", task, err)
	}
	if _, err := send(t, c, "refuse"); err == nil {
		t.Error("a message that the room refuses made a task")
	}
	file := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewDataPart(map[string]any{"a": 1}))
	if _, err := c.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: file}); err == nil {
		t.Error("a message that is no text was posted")
	}
}

// TestCancel checks that a task that is canceled ends.
func TestCancel(t *testing.T) {
	all := serve(t, &fakeRoom{id: "r1"}, &fakeRoom{id: "r2"})
	c := all[0]
	working := make(chan a2a.TaskID, 8)
	var last a2a.Event
	done := make(chan error, 1)
	go func() {
		for e, err := range c.SendStreamingMessage(t.Context(), &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("wait"))}) {
			if err != nil {
				done <- err
				return
			}
			last = e
			working <- e.TaskInfo().TaskID
		}
		done <- nil
	}()
	var id a2a.TaskID
	select {
	case id = <-working:
	case err := <-done:
		t.Fatalf("the stream has ended, error %v", err)
	}
	if got, err := all[1].CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: id}); err == nil {
		t.Errorf("canceled from another room: %+v", got)
	}
	for e, err := range all[1].SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: id}) {
		if err == nil {
			t.Errorf("subscribed from another room: %+v", e)
		}
	}
	task, err := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: id})
	if err != nil || task.Status.State != a2a.TaskStateCanceled {
		t.Fatalf("%+v, error %v", task, err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if s, ok := last.(*a2a.TaskStatusUpdateEvent); !ok || s.Status.State != a2a.TaskStateCanceled {
		t.Errorf("the stream ends with %+v", last)
	}
}

// TestOtherRoom checks that a task is found in its room only.
func TestOtherRoom(t *testing.T) {
	all := serve(t, &fakeRoom{id: "r1", script: map[string][]room.Body{"a": {room.Completed{}}}}, &fakeRoom{id: "r2"})
	task, err := send(t, all[0], "a")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := all[0].GetTask(t.Context(), &a2a.GetTaskRequest{ID: task.ID}); err != nil || got.ID != task.ID {
		t.Errorf("in its room: %+v, error %v", got, err)
	}
	if got, err := all[1].GetTask(t.Context(), &a2a.GetTaskRequest{ID: task.ID}); err == nil {
		t.Errorf("in another room: %+v", got)
	}
	if got, err := all[1].CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID}); err == nil {
		t.Errorf("canceled from another room: %+v", got)
	}
	for i, want := range []int{1, 0} {
		if got, err := all[i].ListTasks(t.Context(), &a2a.ListTasksRequest{}); err != nil || len(got.Tasks) != want {
			t.Errorf("room %d lists %+v, error %v", i+1, got, err)
		}
	}
}

// TestCard checks the card of a room.
func TestCard(t *testing.T) {
	b, err := a2aroom.Card(room.View{Room: "r1", Name: "review", Objective: "Review it.", Seats: []room.SeatView{{ID: "ann", Name: "Ann"}, {ID: "bob"}}}, "http://127.0.0.1:1/a2a", "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var c a2a.AgentCard
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	if c.Name != "review" || c.SupportedInterfaces[0].URL != "http://127.0.0.1:1/a2a" || !strings.HasSuffix(c.Skills[0].Description, "Ann, bob") || len(c.SecuritySchemes) != 1 {
		t.Errorf("%s", b)
	}
}
