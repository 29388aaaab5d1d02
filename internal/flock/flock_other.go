//go:build !unix

package flock

import "sync"

// locked holds the locked paths. Without flock, TryLock works within one
// process only.
var locked = struct {
	sync.Mutex
	paths map[string]bool
}{paths: map[string]bool{}}

// Lock does nothing on this system: two processes that change a file at the
// same moment may lose one change.
func Lock(string) (unlock func(), err error) { return func() {}, nil }

// TryLock takes a lock within this process. If it is not free, TryLock returns
// false.
func TryLock(path string) (unlock func(), ok bool, err error) {
	locked.Lock()
	defer locked.Unlock()
	if locked.paths[path] {
		return nil, false, nil
	}
	locked.paths[path] = true
	return func() { locked.Lock(); defer locked.Unlock(); delete(locked.paths, path) }, true, nil
}
