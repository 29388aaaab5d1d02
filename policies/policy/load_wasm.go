package policy

import "unsafe"

// load8 reads the eight bytes of b from i on. Go's compiler does not join
// eight loads of a byte on WebAssembly, where any address may be loaded from.
func load8(b []byte, i int) uint64 {
	return *(*uint64)(unsafe.Pointer(unsafe.SliceData(b[i : i+8])))
}
