package app

import (
	"github.com/schollz/progressbar/v3"
)

// A progress counts things on stderr while a person waits. Where nobody
// watches, or the result is for a program, it shows nothing.
type progress struct{ bar *progressbar.ProgressBar }

// Progress starts counting things of that name.
func (a *App) Progress(things string) *progress {
	if a.Flags.Quiet || a.Format != FormatTable || !IsTerminal(a.Stderr) {
		return &progress{}
	}
	return &progress{progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(a.Stderr), progressbar.OptionSetDescription(things), progressbar.OptionShowCount(),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionEnableColorCodes(false), progressbar.OptionThrottle(100_000_000),
	)}
}

// Percent starts something of which the part that is done is known.
func (a *App) Percent(what string) *progress {
	p := a.Progress(what)
	if p.bar != nil {
		p.bar.ChangeMax(100)
	}
	return p
}

// Part shows how much is done, from 0 to 1.
func (p *progress) Part(done float64) {
	if p.bar != nil {
		_ = p.bar.Set(int(100 * done))
	}
}

func (p *progress) Add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // what cannot be shown is no reason to stop
	}
}

func (p *progress) End() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
