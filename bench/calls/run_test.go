package calls

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/kinds"
	"github.com/folkmoot/moot/room/log/memory"
)

// lead is the seat that gets the request.
const lead = "lead"

// sent is what the endpoints of a run were given, in bytes.
type sent struct {
	lead    int // prompts of the lead
	called  int // prompts of the agents that it called
	answers int // answers to calls within a turn of the lead
}

func (s sent) total() int { return s.lead + s.called + s.answers }

func (s sent) plus(o sent) sent {
	return sent{s.lead + o.lead, s.called + o.called, s.answers + o.answers}
}

// A way is how a job is done.
type way string

const (
	alone  way = "alone"  // the lead does a step in each of its turns, and concludes in one
	atOnce way = "atOnce" // the lead does everything in one turn
	called way = "called" // agents do the steps, and the lead waits for them
	mailed way = "mailed" // the same, and the results come as messages, which wake the lead
)

// A run is one job, done in one way.
type run struct {
	job
	way       way
	remembers bool // the agents keep what they were sent

	asked     atomic.Bool // the request is there
	concluded atomic.Bool

	mu   sync.Mutex
	sent sent
	done int // rounds that were called, or steps that the lead did
	open int // calls whose results have not come as messages yet
}

// measure runs the job in that way and returns what was sent.
func measure(t *testing.T, j job, how way, remembers bool) sent {
	t.Helper()
	r := &run{job: j, way: how, remembers: remembers}
	synctest.Test(t, func(t *testing.T) {
		spec, seats := r.room()
		o, err := coordinator.Open(t.Context(), r.config(), spec, seats)
		if err != nil {
			t.Fatal(err)
		}
		var room sync.WaitGroup
		room.Go(func() { err = o.Run(t.Context()) })
		r.discuss(t, o)
		room.Wait()
		if v := o.View(); err != nil || !r.concluded.Load() || v.Ending.Reason != "the lead has concluded" {
			t.Errorf("%s: the room ended as %+v, %v", r.name, v.Ending, err)
		}
	})
	return r.sent
}

// room returns the room of the job. The agents have no seat in it.
func (r *run) room() (room.Spec, []room.Participant) {
	seats := []room.Participant{{ID: lead, Kind: policy.Local, Role: "leads the work", Mode: room.FullAuto, Remembers: r.remembers}}
	spec := room.Spec{
		Room: "job", Secret: "fixed", Objective: r.objective, Constraints: r.constraints,
		Policy: room.PolicyRef{Use: "measured", Name: "measured"},
	}
	for _, id := range r.people {
		seats = append(seats, room.Participant{ID: id, Kind: policy.Human})
	}
	if r.way == alone || r.way == atOnce {
		return spec, seats
	}
	seats[0].Calls = room.CallsAllow
	for _, a := range r.agents {
		spec.Agents = append(spec.Agents, room.Participant{ID: a.id, Kind: policy.Local, Role: a.role, Mode: room.FullAuto, Remembers: r.remembers})
	}
	return spec, seats
}

func (r *run) config() coordinator.Config {
	return coordinator.Config{
		Log: &memory.Log{}, Owner: "bench", RunOptions: coordinator.RunOptions{Headless: true},
		Policy:   func(context.Context, room.PolicyRef) (coordinator.Policy, error) { return r, nil },
		Endpoint: func(context.Context, room.Spec, room.Participant) (coordinator.Endpoint, error) { return r, nil },
	}
}

// discuss posts the messages of the discussion in their order.
func (r *run) discuss(t *testing.T, o *coordinator.Room) {
	for i, m := range r.talk {
		synctest.Wait() // for the opening and for what the last message caused, so that all runs have the same numbers
		say := room.Say{Text: m.text}
		if i == len(r.talk)-1 {
			say.To = lead
			r.asked.Store(true)
		}
		if _, err := o.Do(t.Context(), room.Command{Actor: m.from, Do: say}); err != nil {
			t.Error(err)
		}
	}
}

// Propose gives the floor to the lead: when it has mail, and alone until it has concluded.
func (r *run) Propose(ctx context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	d := policy.Decline("the lead waits")
	switch {
	case r.concluded.Load():
		d = policy.Finish("the lead has concluded")
	case r.asked.Load() && (r.way == alone || in.Agents[0].Unread > 0):
		d = policy.Speak(lead, "there is work")
	}
	return d, policy.Record{}, ctx.Err()
}

// Speak is every agent of the job: it counts what it is given, and works.
func (r *run) Speak(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
	s, isCalled := r.count(p)
	switch {
	case isCalled:
		time.Sleep(time.Duration(s.seconds) * time.Second)
		return said(p, s.result)
	case r.way == alone:
		return said(p, r.alonesTurn())
	}
	if r.open -= results(p); r.open > 0 {
		return endpoint.Reply{Outcome: endpoint.Passed}, nil
	}
	for r.way != atOnce && r.done < len(r.rounds) {
		round := r.rounds[r.done]
		r.done++
		if err := r.call(ctx, f, round); err != nil {
			return endpoint.Reply{}, err
		}
		if r.way == mailed {
			r.open = len(round)
			return said(p, fmt.Sprintf("I have asked for step %d, and go on when the answers are there.", r.done))
		}
	}
	r.concluded.Store(true)
	return said(p, r.conclusion)
}

// Close implements coordinator.Endpoint.
func (r *run) Close() error { return nil }

// count counts a prompt, and returns the step that it is about, if it goes to an agent
// that was called.
func (r *run) count(p endpoint.Prompt) (step, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.Call == nil {
		r.sent.lead += len(p.Text)
		return step{}, false
	}
	r.sent.called += len(p.Text)
	for _, round := range r.rounds {
		for _, s := range round {
			if s.task == p.Call.Task {
				return s, true
			}
		}
	}
	return step{}, true
}

// results returns the number of results of calls among the messages of a prompt that
// are new.
func results(p endpoint.Prompt) (n int) {
	for _, l := range append(p.Inbox[:len(p.Inbox):len(p.Inbox)], p.CatchUp...) {
		if l.Kind == kinds.CallResult {
			n++
		}
	}
	return n
}

// alonesTurn returns what the lead says in its next turn if it does all steps itself.
func (r *run) alonesTurn() string {
	n := r.done
	r.done++
	for _, round := range r.rounds {
		if n < len(round) {
			return round[n].result
		}
		n -= len(round)
	}
	r.concluded.Store(true)
	return r.conclusion
}

// call makes the calls of a round.
func (r *run) call(ctx context.Context, f endpoint.Floor, round []step) error {
	list := make([]calls.Args, len(round))
	for i, s := range round {
		list[i] = calls.Args{Agent: s.agent, Task: s.task, Context: json.RawMessage(s.context)}
		if r.way == mailed {
			list[i].WaitMS = new(int64)
		}
	}
	body, err := json.Marshal(map[string]any{"calls": list})
	if err != nil {
		return err
	}
	a, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalCall, Body: body})
	if err == nil && !a.Allowed {
		err = fmt.Errorf("the call was refused: %s", a.Reason)
	}
	r.mu.Lock()
	r.sent.answers += len(a.Body)
	r.mu.Unlock()
	if r.way == called && strings.Count(string(a.Body), `"success":true`) != len(round) {
		err = fmt.Errorf("a call failed: %s", a.Body)
	}
	return err
}

// said is an answer with the usage that a model would state.
func said(p endpoint.Prompt, text string) (endpoint.Reply, error) {
	usage := endpoint.Usage{Known: true, Input: int64(len(p.Text) / 4), Output: int64(len(text) / 4)}
	return endpoint.Reply{Outcome: endpoint.Said, Text: text, Usage: usage}, nil
}
