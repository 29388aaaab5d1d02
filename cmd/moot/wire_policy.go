package main

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/folkmoot/moot/internal/problem"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// policyRef is everything about a built-in policy that a room's log keeps.
func policyRef(use string, settings policy.JSON, hints bool) (room.PolicyRef, error) {
	if !policies.Has(use) {
		return room.PolicyRef{}, noPolicy(use)
	}
	m := policies.Manifest(use)
	return room.PolicyRef{
		Use: use, Name: m.Name, Version: m.Version, Digest: policies.Digest(),
		Settings: settings, Needs: m.Input, Hints: hints,
	}, nil
}

func noPolicy(use string) error {
	return &problem.Error{
		Code: "ROOM-POLICY", What: fmt.Sprintf("there is no policy %q", use),
		Fix: "built in are " + strings.Join(policies.Names(), ", "),
	}
}

// checkPolicy refuses a policy whose module is not the one that the room was
// opened with: its decisions would not be those that the log records.
func checkPolicy(ref room.PolicyRef) error {
	if !policies.Has(ref.Name) {
		return noPolicy(ref.Name)
	}
	if err := policies.Verify(); err != nil {
		return err
	}
	if have := policies.Digest(); ref.Digest != have {
		return &problem.Error{
			Code: policies.CodeDigest, What: fmt.Sprintf("the room's policy %q is another build: the log names SHA-256 %s, this moot has %s", ref.Name, ref.Digest, have),
			Fix: "use the release of moot that opened the room, or change the policy with --policy " + ref.Name,
		}
	}
	return nil
}

// A loading is a policy that is being loaded beside other work.
type loading struct {
	ref  room.PolicyRef
	done chan struct{} // closed when the others are set
	p    coordinator.Policy
	err  error
}

// preload begins to load the policy that a room will ask for first. Compiling
// takes a moment, and so does opening a room.
func (h *host) preload(ref room.PolicyRef) {
	l := &loading{ref: ref, done: make(chan struct{})}
	h.early = l
	go func() { // Close waits for it
		defer close(l.done)
		l.p, l.err = h.load(context.Background(), ref)
	}()
}

// policy loads the policy that a room names. One room runs in a host, and
// only its loop asks.
func (h *host) policy(ctx context.Context, ref room.PolicyRef) (coordinator.Policy, error) {
	if l := h.early; l != nil && reflect.DeepEqual(l.ref, ref) {
		<-l.done
		h.early = nil
		return l.p, l.err
	}
	return h.load(ctx, ref)
}

func (h *host) load(ctx context.Context, ref room.PolicyRef) (coordinator.Policy, error) {
	if err := checkPolicy(ref); err != nil {
		return nil, err
	}
	m := policies.Manifest(ref.Name)
	p, err := h.sandbox.Load(ctx, plugins.Module{
		Name: ref.Name, Wasm: policies.Module(), Digest: ref.Digest, Settings: ref.Settings, Trusted: true,
		Limits: plugins.Limits{Fuel: m.Limits.Fuel, MemoryPages: m.Limits.MemoryPages},
	})
	if err != nil {
		return nil, err // a nil *plugins.Policy would be no nil Policy
	}
	return p, nil
}
