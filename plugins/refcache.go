package plugins

import "sync"

// A refCache is a reference-counted, single-flight cache for expensive values.
// A value stays until its last user releases it. Callers that ask for a value
// while it is created wait for it.
type refCache[T any] struct {
	mu      sync.Mutex
	entries map[string]*refEntry[T]
}

type refEntry[T any] struct {
	users int
	ready chan struct{} // closed when created
	value T
	err   error
}

// acquire returns the value of a key, and creates it if there is none. The
// caller releases it later, unless there is an error.
func (c *refCache[T]) acquire(key string, create func() (T, error)) (T, error) {
	c.mu.Lock()
	if c.entries == nil {
		c.entries = map[string]*refEntry[T]{}
	}
	e, ok := c.entries[key]
	if ok {
		e.users++
		c.mu.Unlock()
		<-e.ready
		if e.err != nil {
			c.drop(key, e)
		}
		return e.value, e.err
	}
	e = &refEntry[T]{users: 1, ready: make(chan struct{})}
	c.entries[key] = e
	c.mu.Unlock()
	e.value, e.err = create()
	close(e.ready)
	if e.err != nil {
		c.drop(key, e)
	}
	return e.value, e.err
}

// release gives a value back. It reports whether that was the last user, who
// then frees the value.
func (c *refCache[T]) release(key string) (last bool) {
	c.mu.Lock()
	e := c.entries[key]
	c.mu.Unlock()
	return e != nil && c.drop(key, e)
}

func (c *refCache[T]) drop(key string, e *refEntry[T]) (last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.users--
	if c.entries[key] == e && (e.users == 0 || e.err != nil) {
		delete(c.entries, key) // a failed value is tried again
	}
	return e.users == 0
}

// clear returns all values and empties the cache.
func (c *refCache[T]) clear() []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	var values []T
	for _, e := range c.entries {
		values = append(values, e.value)
	}
	c.entries = nil
	return values
}
