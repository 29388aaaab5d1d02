//go:build wasip1

// Command mootjson is a guest of Folkmoot's sandbox without the author kit:
// the ABI by hand, and encoding/json.
package main

import (
	"unsafe"

	"github.com/folkmoot/moot/bench/guests/politejson"
)

var inbox, outbox []byte

//go:wasmexport roompolicy_abi_1
func abi1() {}

//go:wasmexport roompolicy_alloc
func alloc(size uint32) uint32 {
	inbox = make([]byte, size+1)
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(inbox))))
}

//go:wasmexport roompolicy_decide
func decide(_, size uint32) uint64 {
	var err error
	if outbox, err = politejson.Answer(inbox[:size]); err != nil {
		return 0
	}
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(outbox))))<<32 | uint64(len(outbox))
}

func main() {}
