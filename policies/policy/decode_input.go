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

// object reads an object into the struct at to.
func (d *inputDecoder) object(fields []field, to unsafe.Pointer) {
	next := 0
	for d.Object(); d.More(); {
		i, ended := d.members(fields, next, to)
		if ended {
			continue
		}
		if i == len(fields) {
			i = d.search(fields)
		}
		if i < 0 {
			d.Skip()
			continue
		}
		d.value(fields[i].kind, unsafe.Add(to, fields[i].offset))
		next = i + 1
	}
}

// search reads a key and returns the index of its field, or -1.
func (d *inputDecoder) search(fields []field) int {
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
	case stringField:
		*(*string)(at) = d.String()
	case intField:
		*(*int)(at) = int(d.Int())
	case int64Field:
		*(*int64)(at) = d.Int()
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
