package a2aroom

import (
	"context"
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
	young, former *generation
}

// A generation holds tasks, and the room of each.
type generation struct {
	*taskstore.InMemory
	rooms map[a2a.TaskID]string
}

func newStore(room func(context.Context) (string, error)) *store {
	s := &store{room: room}
	s.young, s.former = s.generation(), s.generation()
	return s
}

func (s *store) generation() *generation {
	return &generation{taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: s.room}), map[a2a.TaskID]string{}}
}

// of returns the generation with a task of the room of ctx.
func (s *store) of(ctx context.Context, id a2a.TaskID) (*generation, error) {
	room, err := s.room(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range []*generation{s.young, s.former} {
		if of, ok := g.rooms[id]; ok && of == room {
			return g, nil
		}
	}
	return nil, a2a.ErrTaskNotFound
}

// Create implements [taskstore.Store], like the other methods.
func (s *store) Create(ctx context.Context, t *a2a.Task) (taskstore.TaskVersion, error) {
	room, err := s.room(ctx)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.young.rooms) >= keptTasks {
		s.former, s.young = s.young, s.generation()
	}
	v, err := s.young.Create(ctx, t)
	if err == nil {
		s.young.rooms[t.ID] = room
	}
	return v, err
}

func (s *store) Update(ctx context.Context, u *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	g, err := s.of(ctx, u.Task.ID)
	if err != nil {
		return 0, err
	}
	return g.Update(ctx, u)
}

func (s *store) Get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	g, err := s.of(ctx, id)
	if err != nil {
		return nil, err
	}
	return g.Get(ctx, id)
}

// List lists tasks of the newest generation.
func (s *store) List(ctx context.Context, r *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	s.mu.Lock()
	g := s.young
	s.mu.Unlock()
	return g.List(ctx, r)
}
