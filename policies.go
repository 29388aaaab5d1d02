package moot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/pack"
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
		if err := h.keepModule(ctx, e.Manifest.SHA256, e.Wasm); err != nil {
			return room.PolicyRef{}, fmt.Errorf("keeping the policy's module: %w", err)
		}
	}
	return e.Ref(ref.Settings, ref.Hints), nil
}

// keepModule stores a module in the log, unless this Host knows that the log has it. Rooms that
// are created at the same time wait for the first one: a module has megabytes.
func (h *Host) keepModule(ctx context.Context, digest string, wasm []byte) error {
	if _, kept := h.kept.Load(digest); kept {
		return nil
	}
	select {
	case h.keeping <- struct{}{}:
		defer func() { <-h.keeping }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if _, kept := h.kept.Load(digest); kept {
		return nil
	}
	stored, err := h.log.PutBlob(ctx, wasm)
	if err == nil {
		h.kept.Store(stored, true)
	}
	return err
}

// FindPolicy returns what the command room.SetPolicy of a room needs to change
// to the policy of that name.
func (h *Host) FindPolicy(ctx context.Context, name string) (room.PolicyRef, error) {
	return h.keepPolicy(ctx, ".", room.PolicyRef{Use: name}, "")
}

// A PolicyChoice names a policy with its settings.
type PolicyChoice struct {
	Name     string      // as in room.yaml
	Digest   string      // of the module, which names an installed policy without moot.lock; "" takes any
	Settings policy.JSON // nil is the policy's defaults
}

// PolicyFor returns what the command room.SetPolicy of a room needs to change to that
// policy, and keeps its module in the log. It refuses settings that the policy does not
// allow, and a policy that cannot be loaded. An empty id is a room that is still to be
// made.
func (h *Host) PolicyFor(ctx context.Context, id string, c PolicyChoice) (room.PolicyRef, error) {
	x, err := h.choose(ctx, id, c)
	if err != nil {
		return x.ref, err
	}
	_, end, err := h.try(ctx, x)
	if err != nil {
		return x.ref, err
	}
	end()
	if x.entry != nil && x.entry.Origin != catalog.Log {
		_, err = h.log.PutBlob(ctx, x.entry.Wasm)
	}
	return x.ref, err
}

// TryPolicy loads a policy for replays of a room. Its errors are those of PolicyFor.
// The caller calls end.
func (h *Host) TryPolicy(ctx context.Context, id string, c PolicyChoice) (p coordinator.Policy, ref room.PolicyRef, end func(), err error) {
	x, err := h.choose(ctx, id, c)
	if err != nil {
		return nil, x.ref, nil, err
	}
	p, end, err = h.try(ctx, x)
	return p, x.ref, end, err
}

// A chosen is the policy that a PolicyChoice names.
type chosen struct {
	ref   room.PolicyRef
	entry *catalog.Entry // nil: a policy in Go
}

// choose finds a policy for a room and checks its settings.
func (h *Host) choose(ctx context.Context, id string, c PolicyChoice) (chosen, error) {
	s, err := h.stored(ctx, id)
	if err != nil {
		return chosen{}, err
	}
	hints := s.Policy.Ref.Hints && c.Name == s.Policy.Ref.Name // room.yaml grants them to a policy
	if _, ok := h.wiring.Policies[c.Name]; ok {
		return chosen{ref: goRef(room.PolicyRef{Use: c.Name, Settings: c.Settings, Hints: hints})}, nil
	}
	e, err := h.entry(ctx, s, c)
	if err != nil {
		return chosen{}, err
	}
	if schema := pack.Settings(e.Manifest); schema != nil {
		var ids []string
		for _, x := range s.Seats {
			ids = append(ids, x.ID)
		}
		if err := config.CheckRoomSettings(ctx, schema, c.Settings, ids); err != nil {
			return chosen{}, err
		}
	}
	return chosen{e.Ref(c.Settings, hints), e}, nil
}

// try loads a policy so that only fuel ends its decisions: they can be repeated.
func (h *Host) try(ctx context.Context, x chosen) (p coordinator.Policy, end func(), err error) {
	if x.entry == nil {
		p, err = newGoPolicy(h.wiring.Policies[x.ref.Use], x.ref)
		return p, func() {}, err
	}
	loaded, err := h.sandbox.Load(ctx, x.entry.Repeatable(x.ref.Settings, h.wiring.AllowFuel))
	if err != nil {
		return nil, nil, err
	}
	return loaded, loaded.Close, nil
}

// Policies returns the policies that a room can have: those that are built in or
// installed, those in Go, and the one that it has. An empty id is a room that is still
// to be made.
func (h *Host) Policies(ctx context.Context, id string) ([]*catalog.Entry, error) {
	s, err := h.stored(ctx, id)
	if err != nil {
		return nil, err
	}
	all, err := h.wiring.Catalog().All(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(h.wiring.Policies)) {
		m := policy.Manifest{Name: name, SHA256: goRef(room.PolicyRef{Use: name}).Digest}
		all = append(all, &catalog.Entry{Use: name, Origin: catalog.Program, Manifest: m})
	}
	now := s.Policy.Ref
	same := func(e *catalog.Entry) bool { return e.Manifest.Name == now.Name && e.Manifest.SHA256 == now.Digest }
	if id == "" || slices.ContainsFunc(all, same) {
		return all, nil
	}
	if e, err := catalog.Stored(ctx, h.log, now); err == nil { // otherwise of another release of moot
		e.Use = now.Use
		all = append(all, e)
	}
	return all, nil
}

// stored returns a room as it is stored, a new one for an empty id.
func (h *Host) stored(ctx context.Context, id string) (*room.State, error) {
	if id == "" {
		return &room.State{}, nil
	}
	return h.fold(ctx, id)
}

// entry finds a policy for a room: the one that it has, in its log, or another as its
// room.yaml would name it.
func (h *Host) entry(ctx context.Context, s *room.State, c PolicyChoice) (*catalog.Entry, error) {
	if now := s.Policy.Ref; c.Digest != "" && c.Name == now.Name && c.Digest == now.Digest {
		e, err := catalog.Stored(ctx, h.log, now)
		if err == nil {
			e.Use = now.Use
		}
		return e, err
	}
	all := h.wiring.Catalog()
	e, err := all.Pinned(ctx, cmp.Or(s.Spec.Dir, "."), c.Name, c.Digest)
	if p, ok := errors.AsType[*Error](err); ok && p.Code == catalog.CodeUnknown && s.Spec.Dir != "" {
		return all.Pinned(ctx, ".", c.Name, c.Digest)
	}
	return e, err
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
	var p coordinator.QuickPolicy
	if p, err = h.sandbox.Load(ctx, e.Module(ref.Settings, h.wiring.AllowFuel)); err != nil {
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
