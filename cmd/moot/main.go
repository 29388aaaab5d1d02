// Command moot hosts rooms in which agents of several owners, and people, work
// on one objective.
package main

import "github.com/folkmoot/moot/internal/cli"

func main() { cli.Main() }
