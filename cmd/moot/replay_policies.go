package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/folkmoot/moot/internal/problem"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/room"
)

// sandbox starts the host in which policies run. The caller closes it.
func (a *app) sandbox() (*plugins.Host, error) {
	if err := policies.Verify(); err != nil {
		return nil, err
	}
	return plugins.NewHost(plugins.Config{CacheDir: filepath.Join(a.settings.Cache, "policies")})
}

// loadSubjects loads the policies of the command line.
func loadSubjects(ctx context.Context, h *plugins.Host, specs []string) ([]replay.Subject, error) {
	var all []replay.Subject
	for _, spec := range specs {
		s, err := loadSubject(ctx, h, spec)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// loadSubject loads one policy: a name, with settings in JSON right behind it.
func loadSubject(ctx context.Context, h *plugins.Host, spec string) (replay.Subject, error) {
	name, settings := spec, policy.JSON(nil)
	if i := strings.IndexByte(spec, '{'); i >= 0 {
		name, settings = strings.TrimSpace(spec[:i]), policy.JSON(spec[i:])
	}
	if !policies.Has(name) {
		return replay.Subject{}, &problem.Error{
			Code: "ROOM-POLICY", What: "there is no policy " + name, Where: "--policy " + spec,
			Fix: "the built-in ones are " + strings.Join(policies.Names(), ", "),
		}
	}
	if settings != nil && !json.Valid(settings) {
		return replay.Subject{}, &problem.Error{
			Code: "ROOM-SETTINGS", What: "the settings are not JSON", Where: "--policy " + spec,
			Fix: `write them right behind the name: --policy 'mention{"lookback":2}'`,
		}
	}
	m := policies.Manifest(name)
	p, err := h.Load(ctx, plugins.Module{
		Name: name, Wasm: policies.Module(), Digest: policies.Digest(), Settings: settings, Trusted: true,
	})
	if err != nil {
		return replay.Subject{}, err
	}
	return replay.Subject{Name: spec, Policy: p, Ref: room.PolicyRef{
		Use: spec, Name: name, Version: m.Version, Digest: p.Digest(), Settings: settings,
		Needs: m.Input,
	}}, nil
}
