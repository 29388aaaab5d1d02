package plugins

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/folkmoot/moot/plugins/pool"
	"github.com/folkmoot/moot/policies/policy"
)

// A Policy is a loaded policy. Its methods are safe for concurrent use.
type Policy struct {
	host         *Host
	name         string
	rerunOptions string // of the command that repeats a decision
	digest       string // of the module
	config       string // digest of the settings
	limits       Limits
	timeLimit    time.Duration // of the processor, for a decision; 0: unlimited

	key, moduleKey string // of the host's caches
	configured     *configured

	closed    atomic.Bool
	longest   atomic.Int64          // processor time of the longest recent decision, in nanoseconds
	decisions atomic.Uint64         // successful ones, for the audit
	failed    atomic.Pointer[Error] // the audit found a difference
}

// A Result is the outcome of one run of a policy.
type Result = pool.Result

// Digest returns the SHA-256 of the module, in hex.
func (p *Policy) Digest() string { return p.digest }

// Close frees what the policy uses. No decision may be under way. Closing the
// host closes all its policies.
func (p *Policy) Close() {
	if !p.closed.Swap(true) {
		p.host.release(p)
	}
}

// maxQuick is the processor time below which a decision is quick.
const maxQuick = time.Millisecond

// Quick reports whether a decision would start at once and is expected to take less
// than a millisecond of the processor, as all recent ones did. It implements
// coordinator.QuickPolicy.
func (p *Policy) Quick() bool {
	longest := time.Duration(p.longest.Load())
	return longest > 0 && longest < maxQuick && p.host.queue.hasPlace()
}

// Run hands the bytes of an input to a policy and returns the bytes of its
// answer. It reads the clock and the seed from the input. Bytes that are not an
// input are handed over too, with a clock of zero. Every error but ctx's is an
// [*Error] with a run code; the Result then holds the log.
func (p *Policy) Run(ctx context.Context, input []byte) (Result, error) {
	return p.run(ctx, parseHeader(input))
}

// A request is one decision to make.
type request struct {
	room  string
	nowMS int64
	seed  string
	input []byte
}

// parseHeader reads the fields of an input that a run needs. They are zero when
// the bytes are not an input; the policy then says so.
func parseHeader(input []byte) request {
	q := request{input: input}
	r := policy.NewReader(input)
	for r.Object(); r.More(); {
		switch r.Key() {
		case "room":
			q.room = r.String()
		case "now_ms":
			q.nowMS = r.Int()
		case "seed":
			q.seed = r.String()
		default:
			r.Skip()
		}
	}
	if r.End(); r.Err() != nil {
		return request{input: input}
	}
	return q
}

// run makes one decision.
func (p *Policy) run(ctx context.Context, q request) (Result, error) {
	r, err := p.admit(ctx, q, func() (Result, error) {
		return p.host.pool.Run(ctx, p.configured.Configured, p.query(q))
	})
	if err != nil && r.Engine == "" { // no instance could be made: the input is not the cause
		return r, err
	}
	if err != nil {
		return r, p.saveInput(q, err)
	}
	p.configured.module.Ran(r.Engine, r.Time)
	if every := p.host.config.AuditEvery; every > 0 && p.decisions.Add(1)%uint64(every) == 0 {
		err = p.audit(ctx, q, r)
	}
	return r, err
}

// admit calls decide when the queue admits it. The room pays for the processor
// time of the result.
func (p *Policy) admit(ctx context.Context, q request, decide func() (Result, error)) (r Result, err error) {
	before := time.Duration(p.longest.Load())
	place, err := p.host.queue.enter(ctx, q.room, cmp.Or(before, p.timeLimit))
	if err != nil {
		return r, p.admissionError(q, err)
	}
	defer func() {
		place.leave(r.Time)
		p.longest.Store(int64(max(r.Time, before*3/4))) // the old ones are forgotten in time
	}()
	if p.closed.Load() {
		return r, p.admissionError(q, errClosing)
	}
	if e := p.failed.Load(); e != nil {
		return r, e
	}
	return decide()
}

func (p *Policy) query(q request) pool.Query {
	return pool.Query{Where: p.where(q), NowMS: q.nowMS, Seed: q.seed, Input: q.input, Fuel: p.limits.Fuel}
}

// where names the policy and the room, for errors.
func (p *Policy) where(q request) string {
	if q.room == "" {
		return "policy " + p.name
	}
	return "policy " + p.name + " in room " + q.room
}

// admissionError is the error of a decision that the queue refused.
func (p *Policy) admissionError(q request, err error) error {
	if !errors.Is(err, errClosing) {
		return err
	}
	return &Error{Code: CodeClosed, Where: p.where(q), What: "the policy is closed", Fix: "load it again", Err: err}
}

// audit repeats a decision in a new instance. When anything differs, fuel
// included, the policy makes no more decisions.
func (p *Policy) audit(ctx context.Context, q request, r Result) error {
	again, err := p.admit(ctx, q, func() (Result, error) { return p.configured.RunNew(ctx, p.query(q)) })
	if err != nil && (!errors.As(err, new(*Error)) || errors.Is(err, errClosing)) {
		return nil // the caller is gone; the audit compares another decision
	}
	if again.Engine == "" {
		return err
	}
	if err == nil && bytes.Equal(again.Output, r.Output) && again.Fuel == r.Fuel && again.Log == r.Log {
		return nil
	}
	e := &Error{
		Code: CodeAudit, Where: p.where(q), Err: err,
		What: fmt.Sprintf("the same input gave another answer in a new instance (%d and %d units of fuel)", r.Fuel, again.Fuel),
		Fix:  "use another policy, and report this: it must never happen",
	}
	p.failed.Store(e)
	return p.saveInput(q, e)
}
