package policy

import "unsafe"

// An entry says which member of an object is stored where in a struct.
type entry struct {
	key    string // as a host writes it: `"name":`
	kind   fieldKind
	offset uintptr // in the struct
}

// A field is an entry with its key in words of eight bytes, as load8 reads them. A
// key has at most three words.
type field struct {
	entry
	size        uint   // of the key in bytes
	start, mask uint64 // the first word; mask has the bits that belong to the key
	middle      uint64 // the second word, if the key has more than 16 bytes
	end         uint64 // the last eight bytes, if it has more than eight
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
	inputFields = newFields([]entry{
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
	})
	limitsFields = newFields([]entry{
		{`"max_turns":`, intField, unsafe.Offsetof(input0.Limits.MaxTurns)},
		{`"turns_left":`, intField, unsafe.Offsetof(input0.Limits.TurnsLeft)},
		{`"tokens_left":`, int64Field, unsafe.Offsetof(input0.Limits.TokensLeft)},
		{`"ms_left":`, int64Field, unsafe.Offsetof(input0.Limits.MSLeft)},
	})
	agentFields = newFields([]entry{
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
	})
	taskFields = newFields([]entry{
		{`"id":`, stringField, unsafe.Offsetof(task0.ID)},
		{`"title":`, stringField, unsafe.Offsetof(task0.Title)},
		{`"state":`, stringField, unsafe.Offsetof(task0.State)},
		{`"after":`, stringsField, unsafe.Offsetof(task0.After)},
	})
	handoffFields = newFields([]entry{
		{`"from":`, stringField, unsafe.Offsetof(pass0.From)},
		{`"to":`, stringField, unsafe.Offsetof(pass0.To)},
		{`"reason":`, stringField, unsafe.Offsetof(pass0.Reason)},
	})
	followedFields = newFields([]entry{
		{`"last":`, intField, unsafe.Offsetof(agent0.Followed.Last)},
		{`"last_two":`, intField, unsafe.Offsetof(agent0.Followed.LastTwo)},
	})
	eventFields = newFields([]entry{
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
	})
)

// newFields returns the fields of entries.
func newFields(entries []entry) []field {
	fields := make([]field, len(entries))
	for i, e := range entries {
		n := len(e.key)
		key := append([]byte(e.key), 0, 0, 0, 0, 0, 0, 0)
		f := field{entry: e, size: uint(n), start: load8(key), mask: 1<<(8*n) - 1}
		if n > 8 {
			f.end = load8(key[n-8:])
		}
		if n > 16 {
			f.middle = load8(key[8:])
		}
		fields[i] = f
	}
	return fields
}
