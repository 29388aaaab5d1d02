//go:build wasip1

// Command guest is the WebAssembly module of the built-in policies.
// `go generate ./policies` builds it.
package main

import (
	"github.com/folkmoot/moot/policies/builtins"
	"github.com/folkmoot/moot/policies/policy"
)

var _ = policy.Serve(builtins.All()...)

func main() {}
