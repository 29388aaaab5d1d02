package policy

import "math"

// AppendJSON appends the input as policies receive it. The order of the keys
// is fixed and unset optional keys are left out, so the same Input always
// gives the same bytes. Config and State must be valid JSON or nil, which is
// written as {} and null.
func (in *Input) AppendJSON(dst []byte) []byte {
	w := Writer{b: dst}
	w.Object()
	w.int("abi", int64(in.ABI))
	w.bool("init", in.Init)
	w.str("room", in.Room)
	w.int("decision", in.Decision)
	w.int("turn", int64(in.Turn))
	w.int("now_ms", in.NowMS)
	w.str("seed", in.Seed)
	w.str("objective", in.Objective)
	w.strs("constraints", in.Constraints)
	w.name("config")
	if in.Config == nil {
		w.Raw(JSON("{}"))
	} else {
		w.Raw(in.Config)
	}
	w.name("limits")
	w.limits(in.Limits)
	w.name("agents")
	w.Array()
	for i := range in.Agents {
		w.agent(&in.Agents[i])
	}
	w.EndArray()
	w.name("events")
	w.Array()
	for i := range in.Events {
		w.event(&in.Events[i])
	}
	w.EndArray()
	if in.Handoff != nil {
		w.handoff(in.Handoff)
	}
	w.optional("replaced", in.Replaced)
	w.bool("truncated", in.Truncated)
	w.name("state")
	w.Raw(in.State)
	w.EndObject()
	return w.b
}

func (w *Writer) limits(l Limits) {
	w.Object()
	w.int("max_turns", int64(l.MaxTurns))
	w.int("turns_left", int64(l.TurnsLeft))
	w.int("tokens_left", l.TokensLeft)
	w.int("ms_left", l.MSLeft)
	w.EndObject()
}

func (w *Writer) agent(a *Agent) {
	w.Object()
	w.str("id", a.ID)
	w.str("name", a.Name)
	w.str("kind", a.Kind)
	w.str("role", a.Role)
	w.strs("domains", a.Domains)
	w.bool("eligible", a.Eligible)
	if a.Ineligible != "" {
		w.str("ineligible_reason", a.Ineligible)
	}
	w.optional("presence", a.Presence)
	w.int("turns", int64(a.Turns))
	w.int("last_turn", int64(a.LastTurn))
	w.int("failures", int64(a.Failures))
	w.int("tokens", a.Tokens)
	w.int("avg_ms", a.AvgMS)
	w.int("unread", int64(a.Unread))
	if a.Urgent != 0 {
		w.int("urgent", int64(a.Urgent))
	}
	w.name("followed")
	w.Object()
	w.int("last", int64(a.Followed.Last))
	w.int("last_two", int64(a.Followed.LastTwo))
	w.EndObject()
	if a.Confidence != nil && finite(*a.Confidence) {
		w.float("confidence", *a.Confidence)
	}
	if a.Bid != nil && finite(a.Bid.Score) {
		w.name("bid")
		w.Object()
		w.float("score", a.Bid.Score)
		w.str("reason", a.Bid.Reason)
		w.EndObject()
	}
	if len(a.Tasks) > 0 {
		w.tasks(a.Tasks)
	}
	w.EndObject()
}

func (w *Writer) tasks(all []Task) {
	w.name("tasks")
	w.Array()
	for i := range all {
		t := &all[i]
		w.Object()
		w.str("id", t.ID)
		w.str("title", t.Title)
		w.str("state", t.State)
		if len(t.After) > 0 {
			w.strs("after", t.After)
		}
		w.EndObject()
	}
	w.EndArray()
}

func (w *Writer) handoff(h *Handoff) {
	w.name("handoff")
	w.Object()
	w.str("from", h.From)
	w.str("to", h.To)
	w.str("reason", h.Reason)
	w.EndObject()
}

func (w *Writer) event(e *Event) {
	w.Object()
	w.int("seq", e.Seq)
	w.int("turn", int64(e.Turn))
	w.str("from", e.From)
	w.strs("to", e.To)
	w.str("kind", e.Kind)
	w.str("text", e.Text)
	w.bool("truncated", e.Truncated)
	w.strs("mentions", e.Mentions)
	w.strs("addressed", e.Addressed)
	w.int("bytes", int64(e.Bytes))
	if len(e.Silent) > 0 {
		w.strs("silent", e.Silent)
	}
	w.EndObject()
}

// AppendJSON appends the decision as a policy returns it, without unset keys.
// The zero Decision declines with the reason "no decision".
func (d *Decision) AppendJSON(dst []byte) []byte {
	w := Writer{b: dst}
	w.Object()
	if d.Action == "" {
		w.str("action", ActionDecline)
		w.str("reason", "no decision")
	} else {
		w.str("action", d.Action)
		w.optional("agent", d.Agent)
		w.optional("reason", d.Reason)
		w.optional("message", d.Message)
	}
	if d.Confidence != nil {
		w.float("confidence", *d.Confidence)
	}
	if d.Speak != nil {
		w.float("speak", *d.Speak)
	}
	if d.RetryMS != 0 {
		w.int("retry_ms", d.RetryMS)
	}
	if d.Hints != nil {
		w.name("hints")
		w.Raw(d.Hints)
	}
	if len(d.Scores) > 0 {
		w.scores(d.Scores)
	}
	if d.State != nil {
		w.name("state")
		w.Raw(d.State)
	}
	w.EndObject()
	return w.b
}

func (w *Writer) scores(all []Score) {
	w.name("scores")
	w.Array()
	for _, s := range all {
		w.Object()
		w.str("agent", s.Agent)
		w.float("score", s.Score)
		w.EndObject()
	}
	w.EndArray()
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

func (w *Writer) int(k string, n int64)       { w.name(k); w.Int(n) }
func (w *Writer) bool(k string, v bool)       { w.name(k); w.Bool(v) }
func (w *Writer) str(k, s string)             { w.name(k); w.String(s) }
func (w *Writer) float(k string, f float64)   { w.name(k); w.Float(f) }
func (w *Writer) strs(k string, all []string) { w.name(k); w.Strings(all) }

func (w *Writer) optional(k, s string) {
	if s != "" {
		w.str(k, s)
	}
}
