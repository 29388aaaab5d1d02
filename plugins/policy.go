package plugins

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/folkmoot/moot/policies/policy"
)

// A Policy is a loaded policy. Its methods are safe for concurrent use.
type Policy struct {
	host     *Host
	name     string
	again    string // options of the command that runs it again
	digest   string
	config   string // digest of the settings
	limits   Limits
	template *template

	closed atomic.Bool
	made   atomic.Uint64         // decisions, for the audit
	broken atomic.Pointer[Error] // what the audit found
}

// A Result is what one run of a policy gave.
type Result struct {
	Output []byte // the policy's answer, as it stands
	Log    string // what it logged, at most policy.MaxLog bytes
	Fuel   uint64 // how much it used; 0 when the module ran unmetered
	Memory int    // most bytes of memory that it had
}

// Name returns the name it was loaded under.
func (p *Policy) Name() string { return p.name }

// Digest returns the SHA-256 of the module, in hex.
func (p *Policy) Digest() string { return p.digest }

// Run hands the bytes of an input to a fresh instance and returns the bytes
// of its answer. The clock and the seed are read from the input; what is no
// input is handed over all the same, with a clock at zero. Every error but
// ctx's is an [*Error] with a run code; the Result then holds what was logged.
func (p *Policy) Run(ctx context.Context, input []byte) (Result, error) {
	return p.run(ctx, headed(input))
}

// headed reads what a run needs to know of its input, and nothing of what is
// no input: the policy will say so.
func headed(input []byte) call {
	c := call{input: input}
	r := policy.NewReader(input)
	for r.Object(); r.More(); {
		switch r.Key() {
		case "room":
			c.room = r.String()
		case "now_ms":
			c.nowMS = r.Int()
		case "seed":
			c.seed = r.String()
		default:
			r.Skip()
		}
	}
	if r.End(); r.Err() != nil {
		return call{input: input}
	}
	return c
}

// A call is one decision to make.
type call struct {
	room  string
	nowMS int64
	seed  string
	input []byte
}

// run makes one decision when its turn has come.
func (p *Policy) run(ctx context.Context, c call) (Result, error) {
	if err := p.host.queue.enter(ctx, c.room); err != nil {
		return Result{}, p.shutOut(c, err)
	}
	defer p.host.queue.leave()
	if p.closed.Load() {
		return Result{}, p.shutOut(c, errClosing)
	}
	if e := p.broken.Load(); e != nil {
		return Result{}, e
	}
	in := p.host.slots.take(p.template)
	if in == nil {
		var err error
		if in, err = p.template.instance(); err != nil {
			return Result{}, p.unmade(c, err)
		}
	}
	r, err := p.decide(ctx, in, c)
	if every := p.host.config.AuditEvery; err == nil && every > 0 && p.made.Add(1)%uint64(every) == 0 {
		err = p.audit(ctx, c, r)
	}
	return r, err
}

// shutOut is the error of a decision that was not let in.
func (p *Policy) shutOut(c call, err error) error {
	if !errors.Is(err, errClosing) {
		return err
	}
	return &Error{Code: CodeClosed, Where: p.where(c), What: "the policy is closed", Fix: "load it again", Err: err}
}

// unmade is the error of a decision for which there was no instance.
func (p *Policy) unmade(c call, err error) error {
	e := &Error{Code: CodeMemory, Where: p.where(c), What: "no instance could be made: " + cause(err), Fix: "free memory of this machine", Err: err}
	var own *Error
	if errors.As(err, &own) {
		e.Code, e.What, e.Fix = CodeTrap, own.What, own.Fix
	}
	return e
}

// decide runs one decision in an instance that is as new, and puts it back or
// closes it.
func (p *Policy) decide(ctx context.Context, in *instance, c call) (Result, error) {
	in.memory.pages.watch()
	back := false
	defer func() {
		if !back { // else it is another decision's by now
			in.memory.pages.unwatch()
		}
	}()
	in.world.begin(c.nowMS, c.seed)
	fuel := p.limits.Fuel
	in.begin(ctx, fuel, p.template.time)
	out, err := in.run(c.input)
	in.memory.pages.ran()
	r := Result{Log: in.world.logged(), Fuel: uint64(int64(fuel) - in.left()), Memory: in.memory.high}
	if err != nil {
		if in.pace.ended != nil {
			r.Fuel = fuel // how far it had got depends on the machine
		}
		if ctx.Err() != nil && errors.Is(in.pace.ended, ctx.Err()) {
			in.close()
			return r, ctx.Err()
		}
		e := in.failure(p.where(c), fuel, err)
		in.close()
		return r, p.save(c, e)
	}
	r.Output = append([]byte(nil), out...)
	if p.template.image == nil || p.template.rewind(in) != nil {
		in.close()
		return r, nil
	}
	in.memory.pages.unwatch()
	back = true
	p.host.slots.put(p.template, in)
	return r, nil
}

// audit makes a decision again in an instance that was never used, and
// refuses all further ones when anything differs.
func (p *Policy) audit(ctx context.Context, c call, r Result) error {
	in, err := p.template.instance()
	if err != nil {
		return p.unmade(c, err)
	}
	defer in.close()
	in.world.begin(c.nowMS, c.seed)
	in.begin(ctx, p.limits.Fuel, 0)
	out, err := in.run(c.input)
	if in.pace.ended != nil {
		return nil // the caller has gone; another decision will be compared
	}
	fuel := uint64(int64(p.limits.Fuel) - in.left())
	if err == nil && bytes.Equal(out, r.Output) && fuel == r.Fuel && in.world.logged() == r.Log {
		return nil
	}
	e := &Error{
		Code: CodeAudit, Where: p.where(c), Err: err,
		What: fmt.Sprintf("the same input gave another answer in a new instance (%d and %d units of fuel)", r.Fuel, fuel),
		Fix:  "use another policy, and report this: it must never happen",
	}
	p.broken.Store(e)
	return p.save(c, e)
}

// Close gives back what the policy holds. Decisions under way must have
// ended. Closing the host does it for all.
func (p *Policy) Close() {
	if !p.closed.Swap(true) {
		p.host.dropTemplate(p.template)
	}
}

func (p *Policy) where(c call) string {
	if c.room == "" {
		return "policy " + p.name
	}
	return "policy " + p.name + " in room " + c.room
}

// Propose asks the policy who speaks next. On an error the record says what
// is known of the failed decision; every error but ctx's is an [*Error] with
// a run code.
func (p *Policy) Propose(ctx context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	buffer := encode(&in)
	defer done(buffer)
	rec := p.record(&in, *buffer)
	start := time.Now()
	d, res, err := p.answer(ctx, &in, *buffer)
	rec.Micros = time.Since(start).Microseconds()
	rec.Log, rec.Fuel = res.Log, res.Fuel
	if err != nil {
		var e *Error
		if errors.As(err, &e) {
			rec.Code, rec.Error = e.Code, e.What
		}
		return policy.Decision{}, rec, err
	}
	rec.StateJSON = in.State
	if d.State != nil {
		rec.StateJSON = d.State
	}
	rec.State = stateDigest(rec.StateJSON)
	return d, rec, nil
}

// Answer is Propose for who keeps no record: nothing is hashed, and of the
// record only fuel and log are filled in.
func (p *Policy) Answer(ctx context.Context, in *policy.Input) (policy.Decision, policy.Record, error) {
	buffer := encode(in)
	defer done(buffer)
	d, res, err := p.answer(ctx, in, *buffer)
	return d, policy.Record{Log: res.Log, Fuel: res.Fuel}, err
}

// answer makes one decision on an input, which encoded is.
func (p *Policy) answer(ctx context.Context, in *policy.Input, encoded []byte) (policy.Decision, Result, error) {
	c := call{room: in.Room, nowMS: in.NowMS, seed: in.Seed, input: encoded}
	res, err := p.run(ctx, c)
	if err != nil {
		return policy.Decision{}, res, err
	}
	d, err := p.judged(c, in, res.Output)
	return d, res, err
}

// record fills in what is known before the policy is asked.
func (p *Policy) record(in *policy.Input, input []byte) policy.Record {
	sum := sha256.Sum256(input)
	r := policy.Record{
		Decision: in.Decision, Policy: p.name, Digest: p.digest, ABI: policy.ABI,
		Engine: p.host.engine, Host: WazeroVersion, Config: p.config,
		AskedAtMS: in.NowMS, Seed: in.Seed, Input: hex.EncodeToString(sum[:]),
		State: stateDigest(in.State), StateJSON: in.State,
	}
	if n := len(in.Events); n > 0 {
		r.Through = in.Events[n-1].Seq
	}
	return r
}

func stateDigest(s policy.JSON) string {
	if s == nil || string(s) == "null" {
		return ""
	}
	sum := sha256.Sum256(s)
	return hex.EncodeToString(sum[:])
}

// Decide is Run with the answer read and judged as a room does. Input that
// is none has nobody in it to choose.
func (p *Policy) Decide(ctx context.Context, input []byte) (policy.Decision, Result, error) {
	in, _ := policy.DecodeInput(input) // what it is not, the policy will say
	return p.answer(ctx, &in, input)
}

// judged is judge, with the input of a bad answer saved.
func (p *Policy) judged(c call, in *policy.Input, output []byte) (policy.Decision, error) {
	d, err := p.judge(c, in, output)
	if err == nil {
		return d, nil
	}
	var e *Error
	if errors.As(err, &e) {
		err = p.save(c, e)
	}
	return d, err
}

// judge reads an answer strictly and checks whom it chose.
func (p *Policy) judge(c call, in *policy.Input, output []byte) (policy.Decision, error) {
	d, err := policy.DecodeDecision(output)
	if err != nil {
		e := &Error{
			Code: CodeOutput, Where: p.where(c), What: "the policy's answer is not a decision: " + clip(err.Error()),
			Fix: "the policy's author has to mend it", Err: err,
		}
		var de *policy.DecodeError
		if errors.As(err, &de) && de.Field == "state" && strings.Contains(de.What, "at most") {
			e.Code, e.What = CodeState, "the policy's state is refused: "+clip(err.Error())
		}
		return d, e
	}
	switch d.Action {
	case policy.ActionError:
		return d, &Error{
			Code: CodeRefused, Where: p.where(c), What: "the policy says: " + d.Message,
			Fix: "do what it asks for, or use another policy",
		}
	case policy.ActionSpeak:
		return d, p.checkChoice(c, in, d.Agent)
	}
	return d, nil
}

func (p *Policy) checkChoice(c call, in *policy.Input, agent string) error {
	for i := range in.Agents {
		if a := &in.Agents[i]; a.ID == agent {
			if a.Eligible {
				return nil
			}
			return p.badChoice(c, fmt.Sprintf("the policy chose %q, who is not eligible: %s", agent, a.Ineligible))
		}
	}
	return p.badChoice(c, fmt.Sprintf("the policy chose %q, who is not in the room", clip(agent)))
}

func (p *Policy) badChoice(c call, what string) *Error {
	return &Error{Code: CodeChoice, Where: p.where(c), What: what, Fix: "the policy's author has to choose among the eligible agents"}
}
