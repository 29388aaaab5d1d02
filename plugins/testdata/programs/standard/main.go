// Command standard is a policy in Go without a kit: it uses the standard
// library as it comes, and asks the world for everything that it can.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"time"
	"unsafe"
)

var in, out []byte

//go:wasmexport roompolicy_abi_1
func marker() {}

//go:wasmexport roompolicy_alloc
func alloc(n uint32) uint32 {
	in = make([]byte, n+1)
	return uint32(uintptr(unsafe.Pointer(&in[0])))
}

//go:wasmexport roompolicy_decide
func decide(_, n uint32) uint64 {
	var input struct {
		Turn int `json:"turn"`
	}
	if err := json.Unmarshal(in[:n], &input); err != nil {
		return 0
	}
	before := time.Now()
	time.Sleep(10 * time.Second)
	slept := time.Since(before)
	fmt.Println("said on standard output")
	fmt.Fprintln(os.Stderr, "and on standard error")
	if input.Turn == 99 {
		panic("turn 99")
	}
	many := map[int]int{}
	for i := range 100 {
		many[i] = i
	}
	first := 0
	for first = range many { // an order that differs between processes
		break
	}
	reason := fmt.Sprintf("now %d, slept %v, %d arguments, %d variables, random %d, first %d",
		before.UnixMilli(), slept, len(os.Args), len(os.Environ()), rand.Int(), first)
	out, _ = json.Marshal(map[string]any{"action": "decline", "reason": reason})
	return uint64(uintptr(unsafe.Pointer(&out[0])))<<32 | uint64(len(out))
}

func main() {}
