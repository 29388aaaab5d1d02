package replaycmd

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies/builtins"
	"github.com/folkmoot/moot/policies/wasteguard"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/replay/drive"
	reports "github.com/folkmoot/moot/replay/report"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// loadReplayed loads the policies of --policy.
func (a *commands) loadReplayed(ctx context.Context, h *plugins.Host, specs []string) ([]drive.Policy, error) {
	var all []drive.Policy
	for _, spec := range specs {
		s, err := a.loadOneReplayed(ctx, h, spec)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// loadOneReplayed loads one policy: a name or path, with settings in JSON after it,
// or in a file after @.
func (a *commands) loadOneReplayed(ctx context.Context, h *plugins.Host, spec string) (drive.Policy, error) {
	if name, ok := strings.CutPrefix(spec, "baseline:"); ok {
		return replayedBaseline(spec, name)
	}
	name, settings, err := app.PolicySpec(spec)
	if err != nil {
		return drive.Policy{}, err
	}
	s, err := a.Catalog().Named(ctx, name)
	if err != nil {
		return drive.Policy{}, err
	}
	p, err := h.Load(ctx, s.Repeatable(settings, a.AllowFuel))
	if err != nil {
		return drive.Policy{}, err
	}
	ref := s.Ref(settings, false)
	ref.Use = spec
	return drive.Policy{Name: spec, Proposer: p, Ref: ref, TrainedOn: trainedOn(ref)}, nil
}

// trainedOn names the data from which the settings of a policy are learnt that come with
// it.
func trainedOn(ref room.PolicyRef) string {
	if ref.Name != "wasteguard" {
		return ""
	}
	p := wasteguard.New(builtins.New)
	if ref.Settings != nil && p.Configure(ref.Settings) != nil {
		return "" // settings of another release
	}
	return p.TrainedOn()
}

// replayedBaseline returns a baseline of replay.
func replayedBaseline(spec, name string) (drive.Policy, error) {
	baseline := drive.FindBaseline(name)
	if baseline == "" {
		return drive.Policy{}, &problem.Error{
			Code: "REPLAY-BASELINE", What: "unknown baseline " + strconv.Quote(name), Where: "--policy " + spec,
			Fix: "the baselines are " + strings.Join(drive.BaselineNames(), ", "),
		}
	}
	return drive.Policy{Name: spec, Baseline: baseline, Ref: room.PolicyRef{Use: spec, Name: baseline}}, nil
}

// check repeats the decisions of rooms with the policies that ran.
func (a *commands) check(ctx context.Context, h *plugins.Host, src *source.Sources) error {
	c, err := drive.Check(ctx, a.originals(h, src), replayable(ctx, src, nil))
	if errors.Is(err, drive.ErrNotRecorded) {
		return app.ExitWith(app.ExitInput, &problem.Error{
			Code: "REPLAY-CHECK", What: "there are no recorded decisions to check", Err: err,
			Fix: "--check takes rooms of moot, or files that `moot transcript export` wrote with --level all",
		})
	}
	if err != nil {
		return err
	}
	if err := a.Emit(c, func(w io.Writer) error { return reports.WriteChecked(w, c) }); err != nil || c.OK {
		return err
	}
	return app.ExitWith(app.ExitGate, &problem.Error{
		Code: "REPLAY-CHECK-FAILED", What: "a policy does not decide as recorded",
		Fix: "the first difference is shown above; compare the digest of the module, its settings and the release of moot",
	})
}

// originals returns a loader of the policies that ran: the built-in ones and
// those that the data folder keeps. It loads each policy once.
func (a *commands) originals(h *plugins.Host, src *source.Sources) drive.Loader {
	loaded := map[string]drive.Proposer{}
	return func(ctx context.Context, ref room.PolicyRef) (drive.Proposer, error) {
		key := ref.Name + "\x00" + ref.Digest + "\x00" + string(ref.Settings)
		if p, ok := loaded[key]; ok {
			return p, nil
		}
		var blobs catalog.Blobs
		db, err := src.Log()
		switch {
		case err == nil:
			blobs = db
		case !errors.Is(err, log.ErrNotFound):
			return nil, err
		}
		s, err := catalog.Stored(ctx, blobs, ref)
		if err != nil {
			return nil, err
		}
		p, err := h.Load(ctx, s.Repeatable(ref.Settings, a.AllowFuel))
		if err != nil {
			return nil, err
		}
		loaded[key] = p
		return p, nil
	}
}
