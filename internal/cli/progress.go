package cli

import (
	"github.com/schollz/progressbar/v3"
)

// A progress counts things on stderr while a person waits. Where nobody
// watches, or the result is for a program, it shows nothing.
type progress struct{ bar *progressbar.ProgressBar }

// progress starts counting things of that name.
func (a *app) progress(things string) *progress {
	if a.flags.quiet || a.format != formatTable || !isTerminal(a.stderr) {
		return &progress{}
	}
	return &progress{progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(a.stderr), progressbar.OptionSetDescription(things), progressbar.OptionShowCount(),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionEnableColorCodes(false), progressbar.OptionThrottle(100_000_000),
	)}
}

// percent starts something of which the part that is done is known.
func (a *app) percent(what string) *progress {
	p := a.progress(what)
	if p.bar != nil {
		p.bar.ChangeMax(100)
	}
	return p
}

// part shows how much is done, from 0 to 1.
func (p *progress) part(done float64) {
	if p.bar != nil {
		_ = p.bar.Set(int(100 * done))
	}
}

func (p *progress) add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // what cannot be shown is no reason to stop
	}
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
