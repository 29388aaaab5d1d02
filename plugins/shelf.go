package plugins

import "sync"

// A shelf keeps what is dear to make, once for each key, for as long as
// somebody uses it. Those who ask while it is being made wait.
type shelf[T any] struct {
	mu    sync.Mutex
	items map[string]*shelved[T]
}

type shelved[T any] struct {
	users int
	ready chan struct{} // closed when made
	value T
	err   error
}

// take returns the item of a key, made by create when there is none. The
// caller drops it later, unless there is an error.
func (s *shelf[T]) take(key string, create func() (T, error)) (T, error) {
	s.mu.Lock()
	if s.items == nil {
		s.items = map[string]*shelved[T]{}
	}
	it, ok := s.items[key]
	if ok {
		it.users++
		s.mu.Unlock()
		<-it.ready
		if it.err != nil {
			s.drop(key, it)
		}
		return it.value, it.err
	}
	it = &shelved[T]{users: 1, ready: make(chan struct{})}
	s.items[key] = it
	s.mu.Unlock()
	it.value, it.err = create()
	close(it.ready)
	if it.err != nil {
		s.drop(key, it)
	}
	return it.value, it.err
}

// release gives an item back. It tells whether nobody uses it any more; the
// caller then frees it.
func (s *shelf[T]) release(key string) (last bool) {
	s.mu.Lock()
	it := s.items[key]
	s.mu.Unlock()
	return it != nil && s.drop(key, it)
}

func (s *shelf[T]) drop(key string, it *shelved[T]) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	it.users--
	if s.items[key] == it && (it.users == 0 || it.err != nil) {
		delete(s.items, key) // one that failed is tried anew
	}
	return it.users == 0
}

// all returns what is on the shelf and empties it.
func (s *shelf[T]) all() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ts []T
	for _, it := range s.items {
		ts = append(ts, it.value)
	}
	s.items = nil
	return ts
}
