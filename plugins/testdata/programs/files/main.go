// Command files is a policy that wants to read a file.
package main

import "os"

//go:wasmexport roompolicy_abi_1
func marker() {}

//go:wasmexport roompolicy_decide
func decide(_, _ uint32) uint64 {
	b, _ := os.ReadFile("/etc/passwd")
	return uint64(len(b))
}

func main() {}
