package policy

// A host freezes the memory of a module once it is loaded and configured, and
// starts every decision from that image. What a decision would have to set up
// first, above all the allocator's lists for each size of block, is therefore
// set up here once: it took half of a decision's time.

// warming mutes Log while the module decides about a room that is not there.
var warming bool

// Blocks that warm allocated last; a result that is kept has to be made.
var (
	plainBlock   []byte
	pointerBlock []*byte
)

// warm makes one decision about a made-up room and touches every small size
// of block.
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
		_ = recover() // a policy that fails here fails again when it is asked
	}()
	m.Decide(warmInput())
}

// warmInput is a room with what makes a policy work.
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
