//go:build !unix

package relay

import "sync"

// Where there is no flock the counts hold within one process.
var held = struct {
	sync.Mutex
	by map[string]bool
}{by: map[string]bool{}}

func lock(string) (unlock func(), err error) { return func() {}, nil }

func tryLock(path string) (unlock func(), ok bool, err error) {
	held.Lock()
	defer held.Unlock()
	if held.by[path] {
		return nil, false, nil
	}
	held.by[path] = true
	return func() { held.Lock(); defer held.Unlock(); delete(held.by, path) }, true, nil
}
