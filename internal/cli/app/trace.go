package app

import (
	"context"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/tracing"
)

// Trace makes the rooms of w send spans, if the environment names a collector. flush
// sends the last ones, after the Host is closed.
func (a *App) Trace(ctx context.Context, w *moot.Wiring) (flush func(), err error) {
	t, err := tracing.FromEnvironment(ctx, tracing.Config{Version: catalog.Version(), Log: a.Log})
	if t == nil || err != nil {
		return func() {}, err
	}
	w.Observers = append(w.Observers, t)
	return func() {
		if err := t.Close(); err != nil {
			a.Log.Warn("the last spans were not delivered", "error", err)
		}
	}, nil
}
