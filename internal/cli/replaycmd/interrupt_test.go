package replaycmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	reports "github.com/folkmoot/moot/replay/report"
)

// An interrupter is a policy during whose decisions the user presses Ctrl-C.
type interrupter struct {
	interrupt func()
	once      *sync.Once
}

func (p interrupter) Propose(_ context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	if in.Decision == 5 {
		p.once.Do(p.interrupt)
	}
	return policy.Decline("none"), policy.Record{}, nil
}

// TestInterrupted: an interrupted replay prints its report, writes the page, and ends
// with the exit code of an interrupt, also if a gate fails.
func TestInterrupted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	var talk strings.Builder
	talk.WriteString(`{"id":"talk/1","participants":[{"id":"ann","kind":"agent"},{"id":"bob","kind":"agent"},{"id":"cid","kind":"agent"}],"turns":[`)
	for n := range 100 {
		if n > 0 {
			talk.WriteString(",")
		}
		fmt.Fprintf(&talk, `{"speaker":%q,"text":"line %d"}`, []string{"ann", "bob", "cid"}[n%3], n)
	}
	talk.WriteString("]}\n")
	if err := os.WriteFile(file, []byte(talk.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	a := &app.App{Stdout: &out, Stderr: &out, Format: app.FormatTable}
	a.Settings.Data = t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	p := interrupter{func() { cancel(app.ErrInterrupted) }, &sync.Once{}}
	c := replay.Config{Policies: []drive.Policy{{Name: "p", Proposer: p}}, Partial: true, Repeat: 1 << 20}
	src := &source.Sources{Dir: a.Settings.Data, OpenLog: a.ReadLog, Args: []string{file}}
	defer src.Close()
	page := filepath.Join(t.TempDir(), "page.html")
	gate, err := reports.ParseCondition("accuracy < 0.5", []string{"p"})
	if err != nil {
		t.Fatal(err)
	}
	err = (&commands{a}).runReplay(ctx, c, src, nil, []reports.Condition{gate}, page)
	if code := app.ExitCode(ctx, err); code != app.ExitInterrupted {
		t.Errorf("exit %d: %v", code, err)
	}
	if !strings.Contains(out.String(), "4 decisions · PARTIAL: interrupted") {
		t.Errorf("printed\n%s", out.String())
	}
	if html, err := os.ReadFile(page); err != nil || !bytes.Contains(html, []byte("PARTIAL")) {
		t.Errorf("page: %v\n%.300s", err, html)
	}
}
