package policy

// DecodeInput reads an input. It passes over keys it does not know, because
// later hosts add some, and takes the last of a key that comes twice. The
// result shares memory with b.
func DecodeInput(b []byte) (Input, error) {
	var in Input
	err := in.Decode(b)
	return in, err
}

// Decode is [DecodeInput] into an Input whose slices are used again, so that
// a second input of the same size is read without an allocation.
func (in *Input) Decode(b []byte) error { return in.decode(b, nil) }

// decode has the strings that hold an escape written to spare.
func (in *Input) decode(b, spare []byte) error {
	d := inputDecoder{Reader: Reader{b: b, spare: spare}}
	in.clear()
	if !d.inputInOrder(in) && d.err == nil {
		d.Reader = Reader{b: b, spare: spare}
		in.clear()
		for d.Object(); d.More(); {
			d.top(in)
		}
	}
	d.End()
	return d.Err()
}

// clear empties in and keeps its slices.
func (in *Input) clear() {
	*in = Input{Agents: in.Agents[:0], Events: in.Events[:0], Constraints: in.Constraints[:0]}
}

type inputDecoder struct{ Reader }

func (d *inputDecoder) top(in *Input) {
	switch d.Key() {
	case "abi":
		in.ABI = int(d.Int())
	case "init":
		in.Init = d.Bool()
	case "room":
		in.Room = d.String()
	case "decision":
		in.Decision = d.Int()
	case "turn":
		in.Turn = int(d.Int())
	case "now_ms":
		in.NowMS = d.Int()
	case "seed":
		in.Seed = d.String()
	case "objective":
		in.Objective = d.String()
	case "constraints":
		in.Constraints = d.appendStrings(in.Constraints[:0])
	case "config":
		in.Config = d.Raw()
	case "limits":
		d.limits(&in.Limits)
	case "agents":
		d.agents(in)
	case "events":
		d.events(in)
	case "truncated":
		in.Truncated = d.Bool()
	case "state":
		d.state(in)
	default:
		d.Skip()
	}
}

func (d *inputDecoder) state(in *Input) {
	in.State = d.Raw()
	if string(in.State) == "null" {
		in.State = nil
	}
}

func (d *inputDecoder) limits(l *Limits) {
	*l = Limits{}
	for d.Object(); d.More(); {
		switch d.Key() {
		case "max_turns":
			l.MaxTurns = int(d.Int())
		case "turns_left":
			l.TurnsLeft = int(d.Int())
		case "tokens_left":
			l.TokensLeft = d.Int()
		case "ms_left":
			l.MSLeft = d.Int()
		default:
			d.Skip()
		}
	}
}

func (d *inputDecoder) agents(in *Input) {
	in.Agents = in.Agents[:0]
	for d.Array(); d.More(); {
		n := len(in.Agents)
		if n < cap(in.Agents) {
			in.Agents = in.Agents[:n+1]
			in.Agents[n] = Agent{Domains: in.Agents[n].Domains[:0]}
		} else {
			in.Agents = append(in.Agents, Agent{})
		}
		if a, start := &in.Agents[n], d.p; !d.agentInOrder(a) && d.err == nil {
			d.p = start
			*a = Agent{Domains: a.Domains[:0]}
			d.agent(a)
		}
	}
}

func (d *inputDecoder) agent(a *Agent) {
	for d.Object(); d.More(); {
		switch d.Key() {
		case "id":
			a.ID = d.String()
		case "name":
			a.Name = d.String()
		case "kind":
			a.Kind = d.String()
		case "role":
			a.Role = d.String()
		case "domains":
			a.Domains = d.appendStrings(a.Domains[:0])
		case "eligible":
			a.Eligible = d.Bool()
		case "ineligible_reason":
			a.Ineligible = d.String()
		case "turns":
			a.Turns = int(d.Int())
		case "last_turn":
			a.LastTurn = int(d.Int())
		case "failures":
			a.Failures = int(d.Int())
		case "tokens":
			a.Tokens = d.Int()
		case "avg_ms":
			a.AvgMS = d.Int()
		case "unread":
			a.Unread = int(d.Int())
		case "urgent":
			a.Urgent = int(d.Int())
		case "followed":
			d.followed(&a.Followed)
		case "confidence":
			f := d.Float()
			a.Confidence = &f
		case "bid":
			a.Bid = d.bid()
		default:
			d.Skip()
		}
	}
}

func (d *inputDecoder) followed(f *Followed) {
	*f = Followed{}
	for d.Object(); d.More(); {
		switch d.Key() {
		case "last":
			f.Last = int(d.Int())
		case "last_two":
			f.LastTwo = int(d.Int())
		default:
			d.Skip()
		}
	}
}

func (d *inputDecoder) bid() *Bid {
	b := &Bid{}
	for d.Object(); d.More(); {
		switch d.Key() {
		case "score":
			b.Score = d.Float()
		case "reason":
			b.Reason = d.String()
		default:
			d.Skip()
		}
	}
	return b
}

func (d *inputDecoder) events(in *Input) {
	in.Events = in.Events[:0]
	for d.Array(); d.More(); {
		n := len(in.Events)
		if n < cap(in.Events) {
			in.Events = in.Events[:n+1]
			old := &in.Events[n]
			*old = Event{To: old.To[:0], Mentions: old.Mentions[:0], Addressed: old.Addressed[:0]}
		} else {
			in.Events = append(in.Events, Event{})
		}
		if e, start := &in.Events[n], d.p; !d.eventInOrder(e) && d.err == nil {
			d.p = start
			*e = Event{To: e.To[:0], Mentions: e.Mentions[:0], Addressed: e.Addressed[:0]}
			d.event(e)
		}
	}
}

func (d *inputDecoder) event(e *Event) {
	for d.Object(); d.More(); {
		switch d.Key() {
		case "seq":
			e.Seq = d.Int()
		case "turn":
			e.Turn = int(d.Int())
		case "from":
			e.From = d.String()
		case "to":
			e.To = d.appendStrings(e.To[:0])
		case "kind":
			e.Kind = d.String()
		case "text":
			e.Text = d.String()
		case "truncated":
			e.Truncated = d.Bool()
		case "mentions":
			e.Mentions = d.appendStrings(e.Mentions[:0])
		case "addressed":
			e.Addressed = d.appendStrings(e.Addressed[:0])
		case "bytes":
			e.Bytes = int(d.Int())
		default:
			d.Skip()
		}
	}
}
