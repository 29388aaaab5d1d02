package plugins

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/policies/policy"
)

// Propose asks the policy for a decision. The record says how the policy ran;
// the room adds the rest for the audit. Every error but ctx's is an [*Error]
// with a run code.
func (p *Policy) Propose(ctx context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	buffer := encode(&in)
	defer recycle(buffer)
	rec := policy.Record{ABI: policy.ABI, Engine: p.host.Engine(), Host: WazeroVersion, Config: p.config, Input: guest.Digest(*buffer)}
	start := time.Now()
	d, res, err := p.decide(ctx, &in, *buffer)
	rec.Micros = time.Since(start).Microseconds()
	rec.Log, rec.Fuel, rec.Meter, rec.EndedByTime = res.Log, res.Fuel, guest.MeterVersion, res.EndedByTime
	if res.Engine != "" {
		rec.Engine = res.Engine
	}
	if err != nil {
		return policy.Decision{}, rec, err
	}
	return d, rec, nil
}

// Decide is Run with the answer decoded and checked. Bytes that are not an input
// have no agent to choose.
func (p *Policy) Decide(ctx context.Context, input []byte) (policy.Decision, Result, error) {
	in, _ := policy.DecodeInput(input) // the policy says what is wrong with it
	return p.decide(ctx, &in, input)
}

// decide makes one decision on an input and its encoded form.
func (p *Policy) decide(ctx context.Context, in *policy.Input, encoded []byte) (policy.Decision, Result, error) {
	q := request{room: in.Room, nowMS: in.NowMS, seed: in.Seed, input: encoded}
	res, err := p.run(ctx, q)
	if err != nil {
		return policy.Decision{}, res, err
	}
	d, err := p.validateAnswer(q, in, res.Output)
	if err != nil {
		err = p.saveInput(q, err)
	}
	return d, res, err
}

// validateAnswer decodes an answer strictly and checks the chosen agent.
func (p *Policy) validateAnswer(q request, in *policy.Input, output []byte) (policy.Decision, error) {
	d, err := policy.DecodeDecision(output)
	if err != nil {
		e := &Error{
			Code: CodeOutput, Where: p.where(q), What: "the policy's answer is not a decision: " + guest.Clip(err.Error()),
			Fix: "the policy's author has to fix it", Err: err,
		}
		var de *policy.DecodeError
		if errors.As(err, &de) && de.Field == "state" && strings.Contains(de.What, "at most") {
			e.Code, e.What = CodeState, "the policy's state is refused: "+guest.Clip(err.Error())
		}
		return d, e
	}
	switch d.Action {
	case policy.ActionError:
		return d, &Error{
			Code: CodeRefused, Where: p.where(q), What: "the policy says: " + d.Message,
			Fix: "do what it asks for, or use another policy",
		}
	case policy.ActionSpeak:
		return d, p.checkChoice(q, in, d.Agent)
	}
	return d, nil
}

func (p *Policy) checkChoice(q request, in *policy.Input, agent string) error {
	i := in.Seat(agent)
	if i >= 0 && in.Agents[i].Eligible {
		return nil
	}
	what := fmt.Sprintf("the policy chose %q, who is not in the room", guest.Clip(agent))
	if i >= 0 {
		what = fmt.Sprintf("the policy chose %q, who is not eligible: %s", agent, in.Agents[i].Ineligible)
	}
	return &Error{Code: CodeChoice, Where: p.where(q), What: what, Fix: "the policy's author has to choose among the eligible agents"}
}

// buffers are reused for encoded inputs.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxReusedBuffer is the size in bytes over which a buffer is not reused.
const maxReusedBuffer = 256 << 10

// encode returns an encoded input. The caller passes it to recycle when no one
// reads it any more.
func encode(in *policy.Input) *[]byte {
	b := buffers.Get().(*[]byte)
	*b = in.AppendJSON((*b)[:0])
	return b
}

func recycle(b *[]byte) {
	if cap(*b) <= maxReusedBuffer {
		buffers.Put(b)
	}
}
