package policycmd

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/authoring"
	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/internal/term"
)

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
	return a.Emit(b, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s %s: %s, %d bytes, sha256 %s\n", b.Policy, b.Version, b.File, b.Bytes, b.SHA256)
		return err
	})
}
