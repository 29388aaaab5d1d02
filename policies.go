package moot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// keepPolicy completes the reference to a policy that ref.Use names, and keeps
// the module in the log, so that the room can be opened again and checked
// without the place where the policy came from. digest is the only module that
// is taken; "" takes any.
func (h *Host) keepPolicy(ctx context.Context, dir string, ref room.PolicyRef, digest string) (room.PolicyRef, error) {
	if _, ok := h.wiring.Policies[ref.Use]; ok {
		return goRef(ref), nil
	}
	e, err := h.wiring.Catalog().Pinned(ctx, dir, ref.Use, digest)
	if err != nil {
		return room.PolicyRef{}, err
	}
	if e.Origin != catalog.Log { // a built-in module too: the next release has another
		if _, err := h.log.PutBlob(ctx, e.Wasm); err != nil {
			return room.PolicyRef{}, fmt.Errorf("keeping the policy's module: %w", err)
		}
	}
	return e.Ref(ref.Settings, ref.Hints), nil
}

// FindPolicy returns what the command room.SetPolicy of a room needs to change
// to the policy of that name.
func (h *Host) FindPolicy(ctx context.Context, name string) (room.PolicyRef, error) {
	return h.keepPolicy(ctx, ".", room.PolicyRef{Use: name}, "")
}

// checkPolicy reports a policy that cannot be loaded again.
func (h *Host) checkPolicy(ctx context.Context, ref room.PolicyRef) error {
	if _, ok := h.wiring.Policies[ref.Use]; ok {
		return nil
	}
	_, err := catalog.Stored(ctx, h.log, ref)
	return err
}

// A loading is a policy that is loaded while the room is opened.
type loading struct {
	ref    room.PolicyRef
	done   chan struct{} // closed when the others are set
	policy coordinator.Policy
	err    error
}

// preload begins to load the policy that a room will ask for first: compiling
// a module and opening a room take time.
func (h *Host) preload(ref room.PolicyRef) {
	l := &loading{ref: ref, done: make(chan struct{})}
	h.mu.Lock()
	h.early = append(h.early, l)
	h.mu.Unlock()
	go func() { // Close waits for it
		defer close(l.done)
		l.policy, l.err = h.load(context.Background(), ref)
	}()
}

// policy loads the policy that a room names, or takes it from preload.
func (h *Host) policy(ctx context.Context, ref room.PolicyRef) (coordinator.Policy, error) {
	h.mu.Lock()
	i := slices.IndexFunc(h.early, func(l *loading) bool { return reflect.DeepEqual(l.ref, ref) })
	if i < 0 {
		h.mu.Unlock()
		return h.load(ctx, ref)
	}
	l := h.early[i]
	h.early = slices.Delete(h.early, i, i+1)
	h.mu.Unlock()
	<-l.done
	return l.policy, l.err
}

func (h *Host) load(ctx context.Context, ref room.PolicyRef) (coordinator.Policy, error) {
	if p, ok := h.wiring.Policies[ref.Use]; ok {
		return newGoPolicy(p, ref)
	}
	e, err := catalog.Stored(ctx, h.log, ref)
	if err != nil {
		return nil, err
	}
	p, err := h.sandbox.Load(ctx, e.Module(ref.Settings, h.wiring.AllowFuel))
	if err != nil {
		return nil, err // a nil *plugins.Policy would be no nil Policy
	}
	return p, nil
}

// goRef completes the reference to a policy in Go. It has no module, so its
// digest is that of its name.
func goRef(ref room.PolicyRef) room.PolicyRef {
	ref.Name, ref.Digest = ref.Use, digestOf([]byte("go policy "+ref.Use))
	return ref
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// A goPolicy makes the decisions of a policy in Go, in this process.
type goPolicy struct {
	policy Policy
	ref    room.PolicyRef
}

func newGoPolicy(p Policy, ref room.PolicyRef) (coordinator.Policy, error) {
	if c, ok := p.(policy.Configurer); ok {
		settings := ref.Settings
		if settings == nil {
			settings = policy.JSON("{}")
		}
		if err := c.Configure(settings); err != nil {
			return nil, &Error{Code: "load.configure", What: "the policy refused its settings: " + err.Error(), Where: "policy " + ref.Name, Fix: "correct the settings", Err: err}
		}
	}
	return goPolicy{p, ref}, nil
}

// Propose implements [coordinator.Policy]. The record says how the policy ran;
// the room completes it.
func (g goPolicy) Propose(ctx context.Context, in Input) (Decision, policy.Record, error) {
	record := policy.Record{ABI: policy.ABI, Engine: "go", Config: digestOf(g.ref.Settings), Input: digestOf(in.AppendJSON(nil))}
	start := time.Now()
	d := g.policy.Decide(&in)
	record.Micros = time.Since(start).Microseconds()
	if d.Action == policy.ActionError {
		return Decision{}, record, &Error{
			Code: "run.refused", What: "the policy says: " + d.Message, Where: "policy " + g.ref.Name,
			Fix: "do what it asks for, or use another policy",
		}
	}
	return d, record, ctx.Err()
}
