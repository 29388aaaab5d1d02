// Straighten makes a module that Go's compiler wrote quicker: see
// wasm.Straighten. It is how the built-in policies are built:
//
//	go run ./plugins/wasm/straighten MODULE
package main

import (
	"fmt"
	"os"

	"github.com/folkmoot/moot/plugins/wasm"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: straighten MODULE")
		os.Exit(2)
	}
	if err := straighten(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func straighten(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if b, err = wasm.Straighten(b, wasm.Default); err != nil {
		return fmt.Errorf("straightening %s: %w", file, err)
	}
	return os.WriteFile(file, b, 0o644)
}
