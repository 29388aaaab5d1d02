package transcripts

import (
	"iter"
	"slices"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// Stats are the counts of a room. Durations are of the room clock.
type Stats struct {
	Room         string             `json:"room"`
	Events       int                `json:"events"`
	Duration     time.Duration      `json:"duration_ns"`
	Turns        int                `json:"turns"` // granted
	Messages     int                `json:"messages"`
	Declines     int                `json:"declines"`
	Passes       int                `json:"passes"`
	Failures     int                `json:"failures"`
	Interrupted  int                `json:"interrupted"`
	Redacted     int                `json:"redacted"`
	Tokens       int64              `json:"tokens"` // reported, or estimated for turns without a report
	Cost         int64              `json:"cost"`   // in millionths; US dollars if an agent states its cost
	Gini         float64            `json:"gini"`   // Gini coefficient of text bytes: 0 if all are equal, near 1 if one dominates
	Ending       string             `json:"ending,omitempty"`
	Policies     []PolicyStats      `json:"policies,omitempty"`
	Participants []ParticipantStats `json:"participants"`
	Usage
}

// Usage tells more about the tokens and the cost of a room or of a participant.
type Usage struct {
	Estimated     bool  `json:"estimated"`           // part of the tokens is an estimate
	CachedInput   int64 `json:"cached_input_tokens"` // part of the tokens, as far as stated
	Reasoning     int64 `json:"reasoning_tokens"`    // part of the tokens, as far as stated
	CostEstimated bool  `json:"cost_estimated"`      // part of the cost is an estimate
}

// ParticipantStats are the counts of one participant.
type ParticipantStats struct {
	ID       string  `json:"id"`
	Name     string  `json:"name,omitempty"`
	Kind     string  `json:"kind"`
	Role     string  `json:"role,omitempty"`
	Turns    int     `json:"turns"`
	Messages int     `json:"messages"`
	Bytes    int     `json:"bytes"`
	Airtime  float64 `json:"airtime"` // share of the bytes of all texts
	Tokens   int64   `json:"tokens"`
	Cost     int64   `json:"cost"`
	Passes   int     `json:"passes"`
	Failures int     `json:"failures"`
	Drafts   int     `json:"drafts"`
	Edited   int     `json:"edited"`
	Rejected int     `json:"rejected"`

	Latency Latency `json:"latency"`
	Usage

	times []time.Duration
}

// Latency summarizes reply times.
type Latency struct {
	Mean time.Duration `json:"mean_ns"`
	P50  time.Duration `json:"p50_ns"`
	P95  time.Duration `json:"p95_ns"`
	Max  time.Duration `json:"max_ns"`
}

// PolicyStats are the counts of one policy.
type PolicyStats struct {
	Policy    string  `json:"policy"`
	Decisions int     `json:"decisions"`
	Declines  int     `json:"declines"`
	Errors    int     `json:"errors"`
	Fuel      uint64  `json:"fuel"` // of all decisions
	Micros    Latency `json:"time"` // of a decision; not part of the replayable record

	times []time.Duration
}

// Collect computes the statistics of a room.
func Collect(entries iter.Seq2[log.Entry, error]) (*Stats, error) {
	c := counter{index: map[string]int{}}
	for e, err := range entries {
		if err != nil {
			return nil, err
		}
		c.count(e)
	}
	return c.finish(), nil
}

// A counter counts events. Tokens, cost and turns come from the room state.
type counter struct {
	Stats
	state    room.State
	index    map[string]int // index in Participants by id
	speaking string         // participant that has the floor
}

func (c *counter) count(e log.Entry) {
	c.Events++
	if e.Redacted {
		c.Redacted++
	}
	if r := room.RecordOf(e.Event); r != nil {
		c.decision(r, e.Event.Body)
	}
	c.body(e.Event.Body)
	c.state.Apply(e.Event)
}

func (c *counter) body(body room.Body) {
	switch b := body.(type) {
	case room.Joined:
		c.participant(b.Participant.ID)
	case room.TurnGranted:
		c.speaking = b.Participant
	case room.RoundDeclined:
		c.Declines++
	case room.TurnDrafted:
		c.participant(c.speaking).Drafts++
	case room.TurnEdited:
		c.participant(c.speaking).Edited++
	case room.TurnRejected:
		c.participant(c.speaking).Rejected++
	case room.TurnPassed:
		c.Passes++
		s := c.participant(c.speaking)
		s.Passes++
		s.times = append(s.times, b.Latency)
	case room.TurnFailed:
		c.Failures++
		c.participant(c.speaking).Failures++
	case room.TurnInterrupted:
		c.Interrupted++
	case room.MessagePosted:
		c.message(b)
	case room.Stopped:
		c.Ending = ending("stopped", b.Name, b.Reason)
	case room.Completed:
		c.Ending = ending("completed", b.Cause, b.Reason)
	case room.Errored:
		c.Ending = ending("error", b.Code, b.Reason)
	case room.Paused:
		c.Ending = ending("paused", b.Code, b.Reason)
	case room.Resumed:
		c.Ending = ""
	}
}

func ending(phase, name, reason string) string {
	if name != "" {
		phase += " (" + name + ")"
	}
	if reason != "" {
		phase += ": " + reason
	}
	return phase
}

func (c *counter) message(b room.MessagePosted) {
	c.Messages++
	s := c.participant(b.Message.From)
	s.Messages++
	s.Bytes += len(b.Message.Text)
	if b.Turn > 0 {
		s.times = append(s.times, b.Latency)
	}
}

// participant returns the counts of a participant. A sender without a seat, such
// as the host, gets a row too.
func (c *counter) participant(id string) *ParticipantStats {
	i, ok := c.index[id]
	if !ok {
		i = len(c.Participants)
		c.index[id] = i
		c.Participants = append(c.Participants, ParticipantStats{ID: id})
	}
	return &c.Participants[i]
}

func (c *counter) decision(r *policy.Record, body room.Body) {
	i := slices.IndexFunc(c.Policies, func(p PolicyStats) bool { return p.Policy == r.Policy })
	if i < 0 {
		i = len(c.Policies)
		c.Policies = append(c.Policies, PolicyStats{Policy: r.Policy})
	}
	p := &c.Policies[i]
	p.Decisions++
	p.Fuel += r.Fuel
	p.times = append(p.times, time.Duration(r.Micros)*time.Microsecond)
	if r.Code != "" {
		p.Errors++
	}
	if _, ok := body.(room.RoundDeclined); ok {
		p.Declines++
	}
}

func (c *counter) finish() *Stats {
	s := &c.Stats
	s.Room, s.Duration = c.state.Spec.Room, c.state.Clock
	t := c.state.Tally
	s.Turns, s.Tokens, s.Cost, s.Usage = t.Turns, t.Tokens, t.Cost, Usage{t.Estimated, t.CachedInput, t.Reasoning, t.CostEstimated}
	var bytes []int
	total := 0
	for i := range s.Participants {
		p := &s.Participants[i]
		if seat, ok := c.state.Seat(p.ID); ok {
			p.Name, p.Kind, p.Role = seat.Name, seat.Kind, seat.Role
			p.Turns, p.Tokens, p.Cost, p.Usage = seat.Turns, seat.Spent, seat.Cost, Usage{seat.Estimated, seat.CachedInput, seat.Reasoning, seat.CostEstimated}
		}
		p.Latency = latency(p.times)
		bytes = append(bytes, p.Bytes)
		total += p.Bytes
	}
	for i := range s.Participants {
		if p := &s.Participants[i]; total > 0 {
			p.Airtime = float64(p.Bytes) / float64(total)
		}
	}
	s.Gini = gini(bytes)
	for i := range s.Policies {
		s.Policies[i].Micros = latency(s.Policies[i].times)
	}
	return s
}

func latency(times []time.Duration) Latency {
	if len(times) == 0 {
		return Latency{}
	}
	slices.Sort(times)
	var sum time.Duration
	for _, t := range times {
		sum += t
	}
	at := func(q int) time.Duration { return times[(len(times)*q+99)/100-1] } // nearest rank
	return Latency{Mean: sum / time.Duration(len(times)), P50: at(50), P95: at(95), Max: times[len(times)-1]}
}

// gini returns the Gini coefficient of n: half the relative mean absolute
// difference.
func gini(n []int) float64 {
	n = slices.Clone(n)
	slices.Sort(n)
	var total, weighted float64
	for i, x := range n {
		total += float64(x)
		weighted += float64(2*(i+1)-len(n)-1) * float64(x)
	}
	if total == 0 {
		return 0
	}
	return weighted / (float64(len(n)) * total)
}
