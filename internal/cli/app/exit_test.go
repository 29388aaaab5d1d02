package app

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/problem"
)

func TestExitCode(t *testing.T) {
	interrupted, cancel := context.WithCancelCause(context.Background())
	cancel(ErrInterrupted)
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
		want int
	}{
		{"fine", nil, nil, 0},
		{"no code", nil, errors.New("x"), 1},
		{"unknown code", nil, &problem.Error{Code: "NEVER-HEARD"}, 1},
		{"usage", nil, &problem.Error{Code: "CLI-USAGE"}, 2},
		{"room file", nil, config.Problems{{Code: "ROOM-KEY"}}, 3},
		{"wrapped", nil, fmt.Errorf("opening: %w", &problem.Error{Code: "ROOM-KEY"}), 3},
		{"policy refused", nil, &plugins.Error{Code: "load.abi"}, 3},
		{"not allowed", nil, &problem.Error{Code: "ROOM-DENIED"}, 4},
		{"policy failed", nil, &plugins.Error{Code: "run.trap"}, 7},
		{"said so", nil, ExitWith(5, nil), 5},
		{"said so, over its cause", nil, ExitWith(6, &problem.Error{Code: "CLI-USAGE"}), 6},
		{"interrupted", interrupted, context.Canceled, 130},
	} {
		ctx := c.ctx
		if ctx == nil {
			ctx = context.Background()
		}
		if got := ExitCode(ctx, c.err); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestExitCodesFrozen: scripts branch on these numbers.
func TestExitCodesFrozen(t *testing.T) {
	var got []int
	for _, e := range ExitCodes {
		got = append(got, e.Code)
	}
	if want := "[0 1 2 3 4 5 6 7 8 9 10 130]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestReport(t *testing.T) {
	if got := ReportOf(fmt.Errorf("compiling: %w", context.Canceled)); got.What != "interrupted" {
		t.Errorf("an interrupted command says %q", got.What)
	}
	cause := errors.New("disk is away")
	p := &problem.Error{Code: "LOG-IO", What: "cannot read", Where: "room r", Fix: "fix it", Err: cause}
	got := ReportOf(fmt.Errorf("opening log: %w", p))
	want := report{Code: "LOG-IO", What: "opening log: cannot read: disk is away", Where: "room r", Fix: "fix it"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v", got)
	}
	evil := ReportOf(&problem.Error{Code: "X", What: "\x1b[2Ja\u202eb\nc"})
	a := &App{}
	if s := a.text(evil); s != "error: ab c   [X]\n" {
		t.Errorf("%q", s)
	}
}
