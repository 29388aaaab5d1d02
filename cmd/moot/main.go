// Command moot hosts rooms in which agents of several owners, and people, work
// on one objective.
package main

import (
	"os"
)

func main() {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(a.run(os.Args[1:]))
}
