package policycmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/authoring"
	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/problem"
)

// testFlags are what `moot policy test` may be told.
type testFlags struct {
	cases  string
	watch  bool
	update bool
}

// newPolicyTestCmd runs a policy's cases.
func newPolicyTestCmd(a *commands) *cobra.Command {
	var f testFlags
	cmd := &cobra.Command{
		Use:   "test [POLICY]",
		Short: "Run a policy's cases in the sandbox, on both engines",
		Long: "test runs the cases of a policy, cases/*.yaml in its folder: what it is asked and,\n" +
			"byte for byte, what it answers. Each decision is made twice on the compiler and\n" +
			"twice on the interpreter, in fresh instances; bytes, fuel and log must be the\n" +
			"same four times. It ends with 6 when an answer is not the recorded one.\n" +
			"POLICY is a policy's folder, by default the one it is in, or a pack, a .wasm\n" +
			"file or a name.",
		Example: "  moot policy test\n  moot policy test --watch\n  moot policy test --update   # take the answers as they are; read them before you commit them\n" +
			"  moot policy test mention --cases policies/mention/testdata/cases",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: app.CompletePolicy,
		RunE: func(cmd *cobra.Command, args []string) error {
			arg := append(args, ".")[0]
			if f.watch {
				return a.watchCases(cmd.Context(), arg, f)
			}
			return a.testPolicy(cmd.Context(), arg, f)
		},
	}
	cmd.Flags().StringVar(&f.cases, "cases", "", "folder of cases instead of the policy's own")
	cmd.Flags().BoolVar(&f.watch, "watch", false, "run again whenever the folder changes, until Ctrl-C")
	cmd.Flags().BoolVar(&f.update, "update", false, "write the answers into the cases")
	a.FuelFlag(cmd)
	return cmd
}

// testPolicy runs the cases once.
func (a *commands) testPolicy(ctx context.Context, arg string, f testFlags) error {
	s, err := a.Catalog().Named(ctx, arg)
	if err != nil {
		return err
	}
	cases, save := s.Cases, saver(nil)
	if f.cases != "" {
		if cases, err = authoring.ReadCases(f.cases); err != nil {
			return err
		}
	}
	if f.update {
		if save, err = saverOf(s, f.cases); err != nil {
			return err
		}
	}
	if len(cases) == 0 {
		return &problem.Error{
			Code: "POL-CASES", What: "there are no cases", Where: cmp.Or(f.cases, s.Where),
			Fix: "write one: cases/NAME.yaml; docs/policies.md says what it holds; --cases names another folder",
		}
	}
	r, err := a.tryCases(ctx, s, cases, save)
	if err != nil {
		return err
	}
	if err := a.Emit(r, r.print); err != nil {
		return err
	}
	return r.failure()
}

// A saver writes a case's file with its answers; nil writes nothing.
type saver func(name string, text []byte) error

func saverOf(s *catalog.Entry, cases string) (saver, error) {
	dir := cases
	if dir == "" && s.Folder != nil {
		dir = s.Folder.Path("cases")
	}
	if dir == "" {
		return nil, &problem.Error{Code: "CLI-USAGE", What: "--update needs a folder of cases to write to", Where: s.Use, Fix: "name a policy's folder, or --cases"}
	}
	return func(name string, text []byte) error {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return &problem.Error{Code: "POL-CASES", What: "the case cannot be written", Where: path, Err: err, Fix: "let the folder be writable"}
		}
		return nil
	}, nil
}

// watchInterval is how often a folder is looked at for changes.
const watchInterval = 200 * time.Millisecond

// watchCases runs the cases whenever the folder has changed. It prints errors
// and goes on.
func (a *commands) watchCases(ctx context.Context, dir string, f testFlags) error {
	before, err := footprint(dir, f)
	if err != nil {
		return err
	}
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		if err := a.testPolicy(ctx, dir, f); err != nil && ctx.Err() == nil {
			a.PrintError(err, nil)
		}
		a.Note("watching %s; Ctrl-C ends", dir)
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
			now, err := footprint(dir, f)
			if err == nil && now != before { // a file that is being replaced is no reason to end
				before = now
				break
			}
		}
	}
}

// footprint changes when a source or a case of a policy's folder does.
func footprint(dir string, t testFlags) (string, error) {
	folder, err := authoring.Open(dir)
	if err != nil {
		var p *problem.Error
		if errors.As(err, &p) && p.Code != "POL-FOLDER" {
			return err.Error(), nil // a manifest with a mistake in it is a state too
		}
		return "", err
	}
	sources, err := folder.Sources()
	if err != nil {
		return "", err
	}
	read := folder.Cases
	if t.cases != "" {
		read = func() ([]pack.File, error) { return authoring.ReadCases(t.cases) }
	}
	cases, err := read()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(sources)
	for _, c := range cases {
		fmt.Fprintf(&b, "\n%s %s", c.Name, pack.Digest(c.Text))
	}
	return b.String(), nil
}
