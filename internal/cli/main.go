// Package cli is the command line of moot: the root of the command tree. The
// commands are in the packages below it, by topic.
package cli

import (
	"context"
	"os"

	"github.com/folkmoot/moot/internal/cli/app"
)

// Main runs the command line of this process and exits with its code.
func Main() {
	a := &app.App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	os.Exit(run(a, os.Args[1:]))
}

// run executes the command line and returns the exit code.
func run(a *app.App, args []string) int {
	ctx, stop := a.Interruptible(context.Background())
	defer stop()
	root := newRootCmd(a)
	root.SetArgs(args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return app.ExitOK
	}
	if !a.Started {
		err = a.Usage(root, args, err)
	}
	code := app.ExitCode(ctx, err)
	a.PrintError(err, args)
	return code
}
