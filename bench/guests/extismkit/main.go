//go:build wasip1

// Command extismkit is a guest of Extism, with its Go PDK.
package main

import (
	"github.com/extism/go-pdk"
	"github.com/folkmoot/moot/bench/guests/politekit"
)

//go:wasmexport decide
func decide() int32 {
	out, err := politekit.Answer(pdk.Input())
	if err != nil {
		pdk.SetError(err)
		return 1
	}
	pdk.Output(out)
	return 0
}

func main() {}
