package policycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/authoring"
	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/policies/templates"
	"github.com/folkmoot/moot/problem"
)

// newPolicyNewCmd creates a policy from a template.
func newPolicyNewCmd(a *commands) *cobra.Command {
	var lang string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Start a policy: a folder that builds and passes its own cases",
		Long: "new makes the folder NAME with a small complete policy, its SDK and its cases,\n" +
			"builds it and runs the cases. Where the language's compiler is missing it says\n" +
			"what to install; the folder is complete all the same.\n\n" +
			"Languages: " + strings.Join(templates.Languages(), ", "),
		Example: "  moot policy new polite --lang go\n  moot policy new polite --lang rust && cd polite && moot policy test",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.newPolicy(cmd.Context(), args[0], lang) },
	}
	cmd.Flags().StringVar(&lang, "lang", "go", strings.Join(templates.Languages(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions(templates.Languages(), cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return cmd
}

// A Started is a new policy.
type Started struct {
	Folder  string      `json:"folder"`
	Files   []string    `json:"files"`
	Built   bool        `json:"built"`
	Missing string      `json:"missing,omitempty"` // what has to be installed to build it
	Test    *testReport `json:"test,omitempty"`
}

func (a *commands) newPolicy(ctx context.Context, dir, lang string) error {
	f, files, err := authoring.New(dir, lang)
	if err != nil {
		return err
	}
	out := Started{Folder: dir, Files: files}
	s, err := a.Catalog().InFolder(ctx, f.Dir)
	var p *problem.Error
	switch {
	case errors.Is(err, authoring.ErrToolchain) && errors.As(err, &p):
		out.Missing = p.Fix
	case err != nil:
		return err
	default:
		out.Built = true
		if out.Test, err = a.tryCases(ctx, s, s.Cases, nil); err != nil {
			return err
		}
	}
	if err := a.Emit(out, out.print); err != nil {
		return err
	}
	if out.Test == nil {
		a.Note("to build it, install its compiler: %s", out.Missing)
		return nil
	}
	a.Note("next: cd %s, change it and its cases, then moot policy test", dir)
	return out.Test.failure()
}

func (s Started) print(w io.Writer) error {
	for _, name := range s.Files {
		if strings.HasPrefix(name, "sdk/") {
			continue // the sources of the SDK: not to be changed
		}
		fmt.Fprintln(w, filepath.Join(s.Folder, filepath.FromSlash(name)))
	}
	if s.Test == nil {
		return nil
	}
	return s.Test.print(w)
}

// newPolicyBuildCmd builds a policy's folder.
func newPolicyBuildCmd(a *commands) *cobra.Command {
	return &cobra.Command{
		Use:   "build [FOLDER]",
		Short: "Build a policy's folder, by default the one it is in",
		Long: "build runs the folder's build.sh, which makes policy.wasm, and puts the manifest\n" +
			"and a digest of the sources into the module. A compiler that is missing is named\n" +
			"with the package to install. Other commands, and rooms, build a folder by\n" +
			"themselves when its sources changed.",
		Example: "  moot policy build\n  moot policy build ./polite -o json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.buildPolicy(cmd.Context(), append(args, ".")[0])
		},
	}
}

// A built is a module that was built.
type built struct {
	Policy  string `json:"policy"`
	Version string `json:"version"`
	File    string `json:"file"`
	Bytes   int    `json:"bytes"`
	SHA256  string `json:"sha256"`
}

func (a *commands) buildPolicy(ctx context.Context, dir string) error {
	f, err := authoring.Open(dir)
	if err != nil {
		return err
	}
	module, err := f.Build(ctx, term.Writer(a.Stderr))
	if err != nil {
		return err
	}
	b := built{f.Manifest.Name, f.Manifest.Version, filepath.Join(dir, "policy.wasm"), len(module), pack.Digest(module)}
	return a.EmitText(b, "%s %s: %s, %d bytes, sha256 %s\n", b.Policy, b.Version, b.File, b.Bytes, b.SHA256)
}
