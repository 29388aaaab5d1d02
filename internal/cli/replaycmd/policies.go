package replaycmd

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/room"
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
	name, settings := spec, policy.JSON(nil)
	if i := strings.IndexByte(spec, '{'); i >= 0 {
		name, settings = strings.TrimSpace(spec[:i]), policy.JSON(spec[i:])
	} else if use, file, ok := strings.Cut(spec, "@"); ok && use != "" && !strings.HasPrefix(spec, catalog.DigestPrefix) {
		text, err := os.ReadFile(file)
		if err != nil {
			return drive.Policy{}, &problem.Error{
				Code: "ROOM-SETTINGS", What: "the file of the settings cannot be read", Where: "--policy " + spec, Err: err,
				Fix: "write POLICY@FILE; `moot policy learn` makes such files",
			}
		}
		name, settings = use, policy.JSON(bytes.TrimSpace(text))
	}
	if settings != nil && !json.Valid(settings) {
		return drive.Policy{}, &problem.Error{
			Code: "ROOM-SETTINGS", What: "the settings are not JSON", Where: "--policy " + spec,
			Fix: `write them directly after the name: --policy 'mention{"lookback":2}'`,
		}
	}
	s, err := a.Catalog().Named(ctx, name)
	if err != nil {
		return drive.Policy{}, err
	}
	p, err := h.Load(ctx, s.Module(settings, a.AllowFuel))
	if err != nil {
		return drive.Policy{}, err
	}
	ref := s.Ref(settings, false)
	ref.Use = spec
	return drive.Policy{Name: spec, Proposer: p, Ref: ref}, nil
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
