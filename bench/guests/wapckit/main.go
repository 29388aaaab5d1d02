//go:build wasip1

// Command wapckit is a guest of waPC.
package main

import (
	"github.com/folkmoot/moot/bench/guests/politekit"
	"github.com/folkmoot/moot/bench/guests/wapcguest"
)

//go:wasmexport __guest_call
func guestCall(operation, payload uint32) uint32 {
	return wapcguest.Call(operation, payload, politekit.Answer)
}

func main() {}
