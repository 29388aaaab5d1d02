package a2aroom

import (
	"context"
	"errors"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// keptTasks is how many tasks of all rooms are kept at least. They are lost when the
// process ends; the log has what was said.
const keptTasks = 1000

// A store keeps tasks in memory. When one generation is full, the one before it is
// dropped. A task is found in requests for its room only.
type store struct {
	room func(context.Context) (string, error)

	mu            sync.Mutex
	count         int // tasks in young
	young, former *taskstore.InMemory
}

func newStore(room func(context.Context) (string, error)) *store {
	s := &store{room: room}
	s.young, s.former = s.generation(), s.generation()
	return s
}

func (s *store) generation() *taskstore.InMemory {
	return taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: s.room})
}

func (s *store) generations() [2]*taskstore.InMemory {
	s.mu.Lock()
	defer s.mu.Unlock()
	return [2]*taskstore.InMemory{s.young, s.former}
}

// Create implements [taskstore.Store], like the other methods.
func (s *store) Create(ctx context.Context, t *a2a.Task) (taskstore.TaskVersion, error) {
	s.mu.Lock()
	if s.count++; s.count > keptTasks {
		s.former, s.young, s.count = s.young, s.generation(), 1
	}
	young := s.young
	s.mu.Unlock()
	return young.Create(ctx, t)
}

func (s *store) Update(ctx context.Context, u *taskstore.UpdateRequest) (v taskstore.TaskVersion, err error) {
	for _, g := range s.generations() {
		if v, err = g.Update(ctx, u); !errors.Is(err, a2a.ErrTaskNotFound) {
			break
		}
	}
	return v, err
}

func (s *store) Get(ctx context.Context, id a2a.TaskID) (t *taskstore.StoredTask, err error) {
	room, err := s.room(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range s.generations() {
		if t, err = g.Get(ctx, id); !errors.Is(err, a2a.ErrTaskNotFound) {
			break
		}
	}
	if err == nil && t.Task.ContextID != room {
		return nil, a2a.ErrTaskNotFound
	}
	return t, err
}

// List lists tasks of the newest generation.
func (s *store) List(ctx context.Context, r *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return s.generations()[0].List(ctx, r)
}
