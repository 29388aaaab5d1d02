package policy

import "unsafe"

// State of the WebAssembly exports. The host never makes two calls at once.
var (
	module *Module
	inbox  []byte // the host writes the argument of a call here
)

// inboxSize is the initial size of inbox. Most inputs fit.
const inboxSize = 64 << 10

// maxInbox is the largest size that roompolicy_alloc grants. Settings may be
// larger than inputs.
const maxInbox = 16 << 20

// Serve registers the policies of this module. Call it once, to initialise a
// package variable, because the main function of a policy module never runs. At
// load and after configuration the module decides about an invented room, which
// makes the real decisions faster.
func Serve(all ...Named) *Module {
	module = NewModule(all...)
	inbox = make([]byte, inboxSize)
	module.warm()
	return module
}

// Log appends text to the audit record of the current decision. The host keeps
// at most MaxLog bytes of a decision.
func Log(level Level, text string) {
	if !warming {
		hostLog(int32(level), text)
	}
}

//go:wasmimport roompolicy log
func hostLog(level int32, text string)

//go:wasmexport roompolicy_abi_1
func abi1() {}

//go:wasmexport roompolicy_alloc
func alloc(size uint32) uint32 {
	if size > maxInbox {
		return 0
	}
	if int(size) > len(inbox) {
		inbox = make([]byte, size)
	}
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(inbox))))
}

//go:wasmexport roompolicy_configure
func configure(_, size uint32) uint32 {
	if module == nil || int(size) > len(inbox) {
		return 0
	}
	text := inbox[:size:size]
	inbox = make([]byte, inboxSize) // the settings stay where they are
	if err := module.Configure(text); err != nil {
		Log(Error, err.Error())
		return 0
	}
	module.warm()
	return 1
}

//go:wasmexport roompolicy_decide
func decide(_, size uint32) uint64 {
	if module == nil || int(size) > len(inbox) {
		return 0
	}
	out := module.Decide(inbox[:size])
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(out))))<<32 | uint64(len(out))
}

// The host saves the memory of a configured module and starts each decision
// from that snapshot. Therefore warm initialises lazily allocated memory before
// the snapshot is taken, above all the allocator's free lists for each size. It
// halves the time of a decision.

// warming suppresses Log while the module decides about the invented room.
var warming bool

// Package variables keep the compiler from removing the allocations of warm.
var (
	plainBlock   []byte
	pointerBlock []*byte
)

// warm allocates a block of each small size and decides once about an invented
// room.
func (m *Module) warm() {
	for size := 8; size <= 4096; size += max(8, size/8) {
		plainBlock = make([]byte, size)
		pointerBlock = make([]*byte, size/8)
	}
	if m.chosen == nil || m.failed != nil {
		return
	}
	warming = true
	defer func() {
		warming = false
		_ = recover() // a policy that panics here panics again when the host asks it
	}()
	m.Decide(warmInput())
}

// warmInput is an input that makes a policy do most of its work.
func warmInput() []byte {
	in := Input{
		ABI: ABI, Init: true, Room: "warm", Decision: 1, Turn: 3, Seed: "00",
		Limits: Limits{MaxTurns: 40, TurnsLeft: 38, TokensLeft: -1, MSLeft: -1},
		Agents: []Agent{
			{ID: "a", Name: "A", Kind: Local, Domains: []string{"x"}, Eligible: true, Turns: 1, LastTurn: 1},
			{ID: "b", Name: "B", Kind: Local, Domains: []string{"y"}, Eligible: true, Turns: 1, LastTurn: 2},
			{ID: "p", Name: "P", Kind: Human, Ineligible: "attends"},
		},
		Events: []Event{
			{Seq: 1, Turn: 1, From: "a", Kind: KindMessage, Text: "b:\nx?", Mentions: []string{"b"}, Addressed: []string{"b"}},
			{Seq: 2, Turn: 2, From: "b", Kind: KindMessage, Text: "y", Bytes: 1},
			{Seq: 3, From: "p", Kind: KindHuman, Text: "what\tnow?"},
		},
	}
	return in.AppendJSON(nil)
}
