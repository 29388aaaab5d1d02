//go:build unix

package replaycmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log/sqlite"
	"github.com/folkmoot/moot/transcripts"
)

// A room that another build of a built-in policy decided in is checked with
// that build, which the data folder keeps under its digest; where it is not
// kept, it is named, with exit code 3.
func TestCheckOfAnotherBuild(t *testing.T) {
	var out bytes.Buffer
	a := &app.App{Stdout: &out, Stderr: &out, Format: app.FormatTable}
	a.Settings.Data, a.Settings.Cache = t.TempDir(), t.TempDir()
	other, err := pack.Embed(policies.Module(), "of another release", nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "room.jsonl")
	writeRoom(t, file, recordWith(t, a, other))
	sandbox, err := a.Sandbox()
	if err != nil {
		t.Fatal(err)
	}
	defer sandbox.Close()
	check := func() error {
		src := &source.Sources{Dir: a.Settings.Data, OpenLog: a.ReadLog, Args: []string{file}}
		defer src.Close()
		return (&commands{a}).check(t.Context(), sandbox, src)
	}
	err = check()
	if err == nil || !strings.Contains(err.Error(), pack.Digest(other)) || app.ExitCode(t.Context(), err) != app.ExitInput {
		t.Errorf("without the module: %v, exit %d", err, app.ExitCode(t.Context(), err))
	}
	db, err := sqlite.Open(sqlite.Config{Dir: a.Settings.Data})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.PutBlob(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := check(); err != nil || !strings.Contains(out.String(), "r_old: 6 of 6 decisions reproduced") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// recordWith runs a room of two agents with a module's roundrobin.
func recordWith(t *testing.T, a *app.App, module []byte) []room.Event {
	t.Helper()
	sandbox, err := a.Sandbox()
	if err != nil {
		t.Fatal(err)
	}
	defer sandbox.Close()
	p, err := sandbox.Load(t.Context(), plugins.Module{Name: "roundrobin", Wasm: module})
	if err != nil {
		t.Fatal(err)
	}
	ref := room.PolicyRef{Use: "roundrobin", Name: "roundrobin", Digest: pack.Digest(module), Needs: policies.Manifest("roundrobin").Input}
	r := recording{t: t}
	r.do(room.ActorHost, room.Open{
		Spec: room.Spec{Room: "r_old", Objective: "agree", Policy: ref, Secret: strings.Repeat("0", 32)},
		Participants: []room.Participant{
			{ID: "ann", Kind: policy.Local, Mode: room.FullAuto}, {ID: "bob", Kind: policy.Local, Mode: room.FullAuto},
		},
	})
	for n := range 6 {
		in, err := r.state.Input(r.state.Policy, r.clock, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, rec, err := p.Propose(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		rec = r.state.Policy.CompleteRecord(rec, &in, r.state.Seq, d, nil)
		r.do(room.ActorPolicy, room.Decided{Decision: d, Record: rec, Grant: room.Grant{Request: fmt.Sprint("q", n)}})
		turn := r.state.Turn
		r.do(turn.Participant, room.Replied{Turn: turn.Number, Request: turn.Request, Reply: endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprint("number ", n)}})
	}
	return r.events
}

// A recording is a room without a coordinator.
type recording struct {
	t      *testing.T
	state  room.State
	clock  time.Duration
	events []room.Event
}

func (r *recording) do(actor string, act room.Act) {
	r.t.Helper()
	made, err := r.state.Decide(room.Command{Actor: actor, Do: act}, room.Now{Wall: time.Unix(1_770_000_000, 0), Clock: r.clock})
	if err != nil {
		r.t.Fatalf("%T: %v", act, err)
	}
	for _, e := range made {
		e.ID = fmt.Sprint("e", e.Seq)
		r.events = append(r.events, e)
		r.state.Apply(e)
	}
}

func writeRoom(t *testing.T, name string, events []room.Event) {
	t.Helper()
	var b bytes.Buffer
	if err := transcripts.Write(&b, transcripts.Header{Room: "r_old", Level: transcripts.All}, transcripts.Entries(events)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
