//go:build !unix

package quota

import "sync"

// held are the locked paths. Without flock the counts hold within one process
// only.
var held = struct {
	sync.Mutex
	paths map[string]bool
}{paths: map[string]bool{}}

func lock(string) (unlock func(), err error) { return func() {}, nil }

func tryLock(path string) (unlock func(), ok bool, err error) {
	held.Lock()
	defer held.Unlock()
	if held.paths[path] {
		return nil, false, nil
	}
	held.paths[path] = true
	return func() { held.Lock(); defer held.Unlock(); delete(held.paths, path) }, true, nil
}
