package bench

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/folkmoot/moot/bench/guests/goplugin/proto"
	"github.com/folkmoot/moot/policies/policy"
)

// room is the input of every benchmark: 1 KiB of JSON, three agents and two
// messages, the last of which addresses nobody.
func room() policy.Input {
	in := policy.Input{
		ABI: policy.ABI, Room: "r_01", Decision: 3, Turn: 3, NowMS: 5000, Seed: "9f3c", Objective: "migrate the table without a lock",
		Limits: policy.Limits{MaxTurns: 40, TurnsLeft: 38, TokensLeft: -1, MSLeft: -1},
		Agents: []policy.Agent{
			{ID: "dba", Name: "DBA", Kind: policy.Local, Domains: []string{"postgres"}, Eligible: true, Turns: 1, LastTurn: 1},
			{ID: "sec", Name: "Security", Kind: policy.Local, Domains: []string{"security"}, Eligible: true, Turns: 1, LastTurn: 2},
		},
		Events: []policy.Event{
			{Seq: 1, Turn: 1, From: "dba", Kind: policy.KindMessage, Text: strings.Repeat("lock time and rollback ", 5)},
			{Seq: 2, Turn: 2, From: "sec", Kind: policy.KindMessage},
		},
	}
	for len(in.AppendJSON(nil)) < 1024 {
		in.Events[1].Text += "x"
	}
	return in
}

// asMessages is room for the peer that takes protocol buffers.
func asMessages() *proto.Input {
	in := room()
	out := &proto.Input{
		Abi: int32(in.ABI), Room: in.Room, Decision: in.Decision, Turn: int32(in.Turn), NowMs: in.NowMS, Seed: in.Seed, Objective: in.Objective,
	}
	for _, a := range in.Agents {
		out.Agents = append(out.Agents, &proto.Agent{
			Id: a.ID, Name: a.Name, Kind: a.Kind, Domains: a.Domains, Eligible: a.Eligible, Turns: int32(a.Turns), LastTurn: int32(a.LastTurn),
		})
	}
	for _, e := range in.Events {
		out.Events = append(out.Events, &proto.Event{Seq: e.Seq, Turn: int32(e.Turn), From: e.From, Kind: e.Kind, Text: e.Text, Bytes: int64(e.Bytes)})
	}
	return out
}

// right fails the benchmark unless the answer is the one that all guests give.
func right(tb testing.TB, answer []byte) {
	tb.Helper()
	var d struct{ Action, Agent, Reason string }
	if err := json.Unmarshal(answer, &d); err != nil {
		tb.Fatalf("%q: %v", answer, err)
	}
	if d.Action != policy.ActionSpeak || d.Agent != "dba" || d.Reason != "dba has been silent for longest" {
		tb.Fatalf("decided %+v", d)
	}
}

// processTime is what this process had of the processors, in nanoseconds: on
// a machine that does other things it says more than the time that went by.
func processTime(tb testing.TB) int64 {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
