// Package policycmd holds the commands below `moot policy`: write, build, test,
// measure, pack, install and inspect policies.
package policycmd

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/policies"
)

// commands are the commands of this package.
type commands struct{ *app.App }

// Command returns the command policy, which holds what concerns policies.
func Command(of *app.App) *cobra.Command {
	a := &commands{of}
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Write, test, share and inspect policies",
		Long: "A policy decides who speaks next. It is a WebAssembly module that runs in a\n" +
			"sandbox; docs/policies.md leads from nothing to one that wins a replay.",
		Example: "  moot policy new polite --lang go && cd polite\n  moot policy test --watch\n  moot policy pack --key ~/moot.key",
	}
	return a.Group(
		cmd,
		newPolicyNewCmd(a), newPolicyBuildCmd(a), newPolicyCheckCmd(a), newPolicyInspectCmd(a), newPolicyTestCmd(a),
		newPolicyRunCmd(a), newPolicyBenchCmd(a), newPolicyPackCmd(a), newPolicyVerifyCmd(a), newPolicyInstallCmd(a),
		newPolicyLsCmd(a), newPolicyRmCmd(a), newPolicyLearnCmd(a),
	)
}

func newPolicyLsCmd(a *commands) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the policies that rooms can use",
		Long: "ls lists the built-in policies, and those that are installed with what moot.lock\n" +
			"in this folder says of them: only what it pins can be used here by its name.",
		Example: "  moot policy ls\n  moot policy ls -o json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := policies.Verify(); err != nil {
				return err
			}
			list := []policyBrief{}
			for _, name := range policies.Names() {
				m := policies.Manifest(name)
				list = append(list, policyBrief{m.Name, m.Version, catalog.BuiltIn, m.SHA256, m.Description, ""})
			}
			installed, err := a.installed(".")
			if err != nil {
				return err
			}
			list = append(list, installed...)
			return a.Emit(list, func(w io.Writer) error {
				rows := app.Rows(list, func(p policyBrief) []string { return []string{p.Name, p.Version, p.Origin, p.Description} })
				return app.Table(w, []string{"NAME", "VERSION", "ORIGIN", "WHAT IT DOES"}, rows)
			})
		},
	}
}

// A policyBrief is a policy in the list of policies.
type policyBrief struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Origin      string `json:"origin"`
	SHA256      string `json:"sha256"` // of the module
	Description string `json:"description"`
	Pack        string `json:"pack_sha256,omitempty"`
}

// Origins of what is installed, in the list.
const (
	originUnlocked = "installed, not in moot.lock"
	originMissing  = "in moot.lock, not installed"
)

// installed lists what the data folder holds and what the lock of dir pins.
func (a *commands) installed(dir string) ([]policyBrief, error) {
	lock, err := pack.ReadLock(dir)
	if err != nil {
		return nil, err
	}
	store, err := a.Catalog().Store.List()
	if err != nil {
		return nil, err
	}
	var list []policyBrief
	have := map[string]bool{}
	for _, i := range store {
		have[i.SHA256] = true
		b := policyBrief{Name: i.Name, Origin: originUnlocked, Pack: i.SHA256}
		if e := lock.Find(i.Name); e != nil && e.SHA256 == i.SHA256 {
			b.Origin = catalog.Installed
		}
		if s, err := a.Catalog().Installed(i.Name, i.SHA256); err != nil {
			b.Origin = "altered"
		} else {
			b.Version, b.SHA256, b.Description = s.Manifest.Version, s.Manifest.SHA256, s.Manifest.Description
		}
		list = append(list, b)
	}
	for _, e := range lock.Policies {
		if !have[e.SHA256] {
			list = append(list, policyBrief{Name: e.Name, Version: e.Version, Origin: originMissing, Pack: e.SHA256})
		}
	}
	return list, nil
}
