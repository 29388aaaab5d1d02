// Command embed is a program of somebody else that runs a third-party policy.
// It says nothing about the process in which the module is compiled.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/folkmoot/moot/plugins"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(module, input string) error {
	host, err := plugins.NewHost(plugins.Config{})
	if err != nil {
		return err
	}
	defer host.Close()
	wasm, err := os.ReadFile(module)
	if err != nil {
		return err
	}
	in, err := os.ReadFile(input)
	if err != nil {
		return err
	}
	p, err := host.Load(context.Background(), plugins.Module{Name: "embedded", Wasm: wasm})
	if err != nil {
		return err
	}
	r, err := p.Run(context.Background(), in)
	fmt.Printf("%s\n", r.Output)
	return err
}
