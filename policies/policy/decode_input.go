package policy

import "unsafe"

// DecodeInput reads an input. It accepts keys in any order, skips unknown
// keys, because later hosts add some, and takes the last of a repeated key.
// The result shares memory with b. The error is a *[DecodeError].
func DecodeInput(b []byte) (Input, error) {
	var in Input
	err := in.Decode(b)
	return in, err
}

// Decode is like [DecodeInput] but reuses the slices of in, so that reading a
// second input of the same size allocates nothing.
func (in *Input) Decode(b []byte) error { return in.decode(b, nil) }

// decode writes the strings that hold an escape to spare.
func (in *Input) decode(b, spare []byte) error {
	d := inputDecoder{Reader{b: b, spare: spare}}
	*in = Input{Agents: in.Agents[:0], Events: in.Events[:0], Constraints: in.Constraints[:0]}
	d.object(inputFields, unsafe.Pointer(in))
	d.End()
	return d.Err()
}

type inputDecoder struct{ Reader }

// A field says which member of an object is stored where in a struct. The
// decoder is driven by tables of fields because it is a third of the time of
// most decisions: a table tells it which key to expect next, so that it seldom
// has to search for one.
type field struct {
	key    string // as a host writes it: `"name":`
	kind   fieldKind
	offset uintptr // in the struct
}

type fieldKind uint8

const (
	stringField fieldKind = iota
	stringsField
	intField
	int64Field
	boolField
	floatField // a *float64
	rawField   // JSON
	stateField // JSON; null is nil
	limitsField
	followedField
	bidField // a *Bid
	agentsField
	eventsField
	handoffField // a *Handoff
	tasksField
)

var (
	input0 Input
	agent0 Agent
	event0 Event
	pass0  Handoff
	task0  Task
)

// The fields of each struct, in the order in which [Input.AppendJSON] writes
// them.
var (
	inputFields = []field{
		{`"abi":`, intField, unsafe.Offsetof(input0.ABI)},
		{`"init":`, boolField, unsafe.Offsetof(input0.Init)},
		{`"room":`, stringField, unsafe.Offsetof(input0.Room)},
		{`"decision":`, int64Field, unsafe.Offsetof(input0.Decision)},
		{`"turn":`, intField, unsafe.Offsetof(input0.Turn)},
		{`"now_ms":`, int64Field, unsafe.Offsetof(input0.NowMS)},
		{`"seed":`, stringField, unsafe.Offsetof(input0.Seed)},
		{`"objective":`, stringField, unsafe.Offsetof(input0.Objective)},
		{`"constraints":`, stringsField, unsafe.Offsetof(input0.Constraints)},
		{`"config":`, rawField, unsafe.Offsetof(input0.Config)},
		{`"limits":`, limitsField, unsafe.Offsetof(input0.Limits)},
		{`"agents":`, agentsField, unsafe.Offsetof(input0.Agents)},
		{`"events":`, eventsField, unsafe.Offsetof(input0.Events)},
		{`"handoff":`, handoffField, unsafe.Offsetof(input0.Handoff)},
		{`"replaced":`, stringField, unsafe.Offsetof(input0.Replaced)},
		{`"truncated":`, boolField, unsafe.Offsetof(input0.Truncated)},
		{`"state":`, stateField, unsafe.Offsetof(input0.State)},
	}
	limitsFields = []field{
		{`"max_turns":`, intField, unsafe.Offsetof(input0.Limits.MaxTurns)},
		{`"turns_left":`, intField, unsafe.Offsetof(input0.Limits.TurnsLeft)},
		{`"tokens_left":`, int64Field, unsafe.Offsetof(input0.Limits.TokensLeft)},
		{`"ms_left":`, int64Field, unsafe.Offsetof(input0.Limits.MSLeft)},
	}
	agentFields = []field{
		{`"id":`, stringField, unsafe.Offsetof(agent0.ID)},
		{`"name":`, stringField, unsafe.Offsetof(agent0.Name)},
		{`"kind":`, stringField, unsafe.Offsetof(agent0.Kind)},
		{`"role":`, stringField, unsafe.Offsetof(agent0.Role)},
		{`"domains":`, stringsField, unsafe.Offsetof(agent0.Domains)},
		{`"eligible":`, boolField, unsafe.Offsetof(agent0.Eligible)},
		{`"ineligible_reason":`, stringField, unsafe.Offsetof(agent0.Ineligible)},
		{`"presence":`, stringField, unsafe.Offsetof(agent0.Presence)},
		{`"turns":`, intField, unsafe.Offsetof(agent0.Turns)},
		{`"last_turn":`, intField, unsafe.Offsetof(agent0.LastTurn)},
		{`"failures":`, intField, unsafe.Offsetof(agent0.Failures)},
		{`"tokens":`, int64Field, unsafe.Offsetof(agent0.Tokens)},
		{`"avg_ms":`, int64Field, unsafe.Offsetof(agent0.AvgMS)},
		{`"unread":`, intField, unsafe.Offsetof(agent0.Unread)},
		{`"urgent":`, intField, unsafe.Offsetof(agent0.Urgent)},
		{`"followed":`, followedField, unsafe.Offsetof(agent0.Followed)},
		{`"confidence":`, floatField, unsafe.Offsetof(agent0.Confidence)},
		{`"bid":`, bidField, unsafe.Offsetof(agent0.Bid)},
		{`"tasks":`, tasksField, unsafe.Offsetof(agent0.Tasks)},
	}
	taskFields = []field{
		{`"id":`, stringField, unsafe.Offsetof(task0.ID)},
		{`"title":`, stringField, unsafe.Offsetof(task0.Title)},
		{`"state":`, stringField, unsafe.Offsetof(task0.State)},
		{`"after":`, stringsField, unsafe.Offsetof(task0.After)},
	}
	handoffFields = []field{
		{`"from":`, stringField, unsafe.Offsetof(pass0.From)},
		{`"to":`, stringField, unsafe.Offsetof(pass0.To)},
		{`"reason":`, stringField, unsafe.Offsetof(pass0.Reason)},
	}
	followedFields = []field{
		{`"last":`, intField, unsafe.Offsetof(agent0.Followed.Last)},
		{`"last_two":`, intField, unsafe.Offsetof(agent0.Followed.LastTwo)},
	}
	eventFields = []field{
		{`"seq":`, int64Field, unsafe.Offsetof(event0.Seq)},
		{`"turn":`, intField, unsafe.Offsetof(event0.Turn)},
		{`"from":`, stringField, unsafe.Offsetof(event0.From)},
		{`"to":`, stringsField, unsafe.Offsetof(event0.To)},
		{`"kind":`, stringField, unsafe.Offsetof(event0.Kind)},
		{`"text":`, stringField, unsafe.Offsetof(event0.Text)},
		{`"truncated":`, boolField, unsafe.Offsetof(event0.Truncated)},
		{`"mentions":`, stringsField, unsafe.Offsetof(event0.Mentions)},
		{`"addressed":`, stringsField, unsafe.Offsetof(event0.Addressed)},
		{`"bytes":`, intField, unsafe.Offsetof(event0.Bytes)},
		{`"silent":`, stringsField, unsafe.Offsetof(event0.Silent)},
	}
)

// object reads an object into the struct at to. It expects the fields in
// their order and searches for a key that is not the expected one.
func (d *inputDecoder) object(fields []field, to unsafe.Pointer) {
	next := 0
	for d.Object(); d.More(); next++ {
		if next >= len(fields) || !d.expect(fields[next].key) {
			if next = d.search(fields, next+1); next < 0 {
				d.Skip()
				continue
			}
		}
		f := &fields[next]
		switch at := unsafe.Add(to, f.offset); f.kind {
		case stringField:
			*(*string)(at) = d.String()
		case intField:
			*(*int)(at) = int(d.Int())
		case int64Field:
			*(*int64)(at) = d.Int()
		default:
			d.value(f.kind, at)
		}
	}
}

// expect reads text if it comes next.
func (d *inputDecoder) expect(text string) bool {
	if end := d.p + len(text); end > len(d.b) || string(d.b[d.p:end]) != text {
		return false
	}
	d.p += len(text)
	return true
}

// search reads a key and returns the index of its field, or -1. It begins with
// likely, because hosts leave out single fields.
func (d *inputDecoder) search(fields []field, likely int) int {
	if likely < len(fields) && d.expect(fields[likely].key) {
		return likely
	}
	key := d.Key()
	for i := range fields {
		if k := fields[i].key; k[1:len(k)-2] == key {
			return i
		}
	}
	return -1
}

// value reads a value of the other kinds to the place that at points to.
func (d *inputDecoder) value(kind fieldKind, at unsafe.Pointer) {
	switch kind {
	case stringsField:
		to := (*[]string)(at)
		*to = d.appendStrings((*to)[:0])
	case boolField:
		*(*bool)(at) = d.Bool()
	case floatField:
		f := d.Float()
		*(**float64)(at) = &f
	case rawField:
		*(*JSON)(at) = d.Raw()
	case stateField:
		if state := d.Raw(); string(state) != "null" {
			*(*JSON)(at) = state
		} else {
			*(*JSON)(at) = nil
		}
	case limitsField:
		*(*Limits)(at) = Limits{}
		d.object(limitsFields, at)
	case followedField:
		*(*Followed)(at) = Followed{}
		d.object(followedFields, at)
	case bidField:
		*(**Bid)(at) = d.bid()
	case agentsField:
		d.agents((*[]Agent)(at))
	case eventsField:
		d.events((*[]Event)(at))
	case handoffField:
		h := &Handoff{}
		d.object(handoffFields, unsafe.Pointer(h))
		*(**Handoff)(at) = h
	case tasksField:
		d.tasks((*[]Task)(at))
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

func (d *inputDecoder) agents(to *[]Agent) {
	all := (*to)[:0]
	for d.Array(); d.More(); {
		n := len(all)
		if n < cap(all) {
			all = all[:n+1]
			all[n] = Agent{Domains: all[n].Domains[:0], Tasks: all[n].Tasks[:0]}
		} else {
			all = append(all, Agent{})
		}
		d.object(agentFields, unsafe.Pointer(&all[n]))
	}
	*to = all
}

func (d *inputDecoder) tasks(to *[]Task) {
	all := (*to)[:0]
	for d.Array(); d.More(); {
		n := len(all)
		if n < cap(all) {
			all = all[:n+1]
			all[n] = Task{After: all[n].After[:0]}
		} else {
			all = append(all, Task{})
		}
		d.object(taskFields, unsafe.Pointer(&all[n]))
	}
	*to = all
}

func (d *inputDecoder) events(to *[]Event) {
	all := (*to)[:0]
	for d.Array(); d.More(); {
		n := len(all)
		if n < cap(all) {
			all = all[:n+1]
			old := &all[n]
			*old = Event{To: old.To[:0], Mentions: old.Mentions[:0], Addressed: old.Addressed[:0], Silent: old.Silent[:0]}
		} else {
			all = append(all, Event{})
		}
		d.object(eventFields, unsafe.Pointer(&all[n]))
	}
	*to = all
}
