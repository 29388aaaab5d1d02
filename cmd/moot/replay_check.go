package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/folkmoot/moot/internal/problem"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/room"
)

// check replays rooms with the policies that ran.
func (a *app) check(ctx context.Context, h *plugins.Host, src *sources) error {
	c, err := replay.Check(ctx, originals(h), src.replayable(ctx))
	if errors.Is(err, replay.ErrNotRecorded) {
		return exitWith(exitInput, &problem.Error{
			Code: "REPLAY-CHECK", What: "there are no recorded decisions to check", Err: err,
			Fix: "--check takes rooms of moot, or files that `moot transcript export` wrote with --level all",
		})
	}
	if err != nil {
		return err
	}
	if err := a.emit(c, func(w io.Writer) error { return printChecked(w, c) }); err != nil || c.OK {
		return err
	}
	return exitWith(exitGate, &problem.Error{
		Code: "REPLAY-CHECK-FAILED", What: "a policy does not decide again as it did",
		Fix: "the first difference is named above; compare the module's digest, its settings and the release of moot",
	})
}

// originals loads the policies that rooms were run with, each once.
func originals(h *plugins.Host) replay.Loader {
	loaded := map[string]replay.Policy{}
	return func(ctx context.Context, ref room.PolicyRef) (replay.Policy, error) {
		key := ref.Name + "\x00" + ref.Digest + "\x00" + string(ref.Settings)
		if p, ok := loaded[key]; ok {
			return p, nil
		}
		if ref.Digest != policies.Digest() {
			return nil, exitWith(exitInput, &problem.Error{
				Code: "POL-MISSING", What: fmt.Sprintf("the module of policy %q is not there", ref.Name), Where: "sha256 " + ref.Digest,
				Fix: "use the release of moot that the room was run with",
			})
		}
		p, err := h.Load(ctx, plugins.Module{
			Name: ref.Name, Wasm: policies.Module(), Digest: ref.Digest, Settings: ref.Settings, Trusted: true,
		})
		if err != nil {
			return nil, err
		}
		loaded[key] = p
		return p, nil
	}
}

func printChecked(w io.Writer, c *replay.Checked) error {
	for _, r := range c.Rooms {
		if _, err := fmt.Fprintf(w, "%s: %d of %s reproduced\n", r.Room, r.Reproduced, count(r.Decisions, "decision")); err != nil {
			return err
		}
		if d := r.First; d != nil {
			if _, err := fmt.Fprintf(w, "  first difference: decision %d of %s, event %d, %s\n    recorded: %s\n    replayed: %s\n",
				d.Decision, d.Policy, d.Seq, d.What, d.Recorded, d.Replayed); err != nil {
				return err
			}
		}
	}
	return nil
}
