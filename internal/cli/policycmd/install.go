package policycmd

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/problem"
)

// newPolicyInstallCmd brings a pack into the data folder.
func newPolicyInstallCmd(a *commands) *cobra.Command {
	var f trustFlags
	cmd := &cobra.Command{
		Use:   "install PACK",
		Short: "Install a pack and pin it in moot.lock",
		Long: "install checks a pack as verify does, loads it in the sandbox, keeps it in the\n" +
			"data folder as the file that it is, and pins its SHA-256, version and key in\n" +
			"moot.lock of this folder. Rooms of this folder then use it by its name. Commit\n" +
			"moot.lock: everyone with the same pack gets the same policy.\n\n" +
			"An older version, another key, or other bytes of the same version are refused\n" +
			"until `moot policy rm` forgets the old one.",
		Example: "  moot policy install polite-1.0.0.tar.gz --key RWSYyY08ablXQfWc5fJbcXBfCnz9OpNoYqv20mhONNRMeXBGMX5HUX/l\n" +
			"  moot policy install polite-1.1.0.tar.gz      # the key is in moot.lock\n  moot policy install mine-0.1.0.tar.gz --unsigned",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.install(cmd.Context(), args[0], f) },
	}
	f.add(cmd)
	a.FuelFlag(cmd)
	return cmd
}

func (a *commands) install(ctx context.Context, path string, f trustFlags) error {
	v, file, err := verifyPack(path, f)
	if err != nil {
		return err
	}
	if err := a.tryLoading(ctx, v.policy); err != nil {
		return err
	}
	if _, err := a.Catalog().Store.Put(v.Policy, file); err != nil {
		return err
	}
	v.lock.Set(v.entry())
	if err := v.lock.Write("."); err != nil {
		return err
	}
	return a.Emit(v, func(w io.Writer) error {
		a.Note("use it in this folder's room.yaml: policy: {use: %s}", v.Policy)
		return v.print(w)
	})
}

// newPolicyRmCmd forgets a policy.
func newPolicyRmCmd(a *commands) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rm NAME",
		Short: "Remove an installed policy and forget what moot.lock says of it",
		Long: "rm removes a policy from moot.lock of this folder, and its pack from the data\n" +
			"folder. Rooms that ran with it can still be opened and checked: they keep the\n" +
			"module that decided. A folder of rooms that pins the same pack has to install it\n" +
			"again.",
		Example: "  moot policy rm polite",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.forget(args[0]) },
	}
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var names []string
		if lock, err := pack.ReadLock("."); err == nil && len(args) == 0 {
			for _, e := range lock.Policies {
				names = append(names, e.Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// A forgotten is a policy that was removed.
type forgotten struct {
	Policy   string   `json:"policy"`
	Unlocked bool     `json:"unlocked"`
	Packs    []string `json:"packs"` // SHA-256 of what was removed
}

func (a *commands) forget(name string) error {
	if policies.Has(name) {
		return &problem.Error{Code: "POL-NAME", What: name + " is built in and cannot be removed", Fix: "leave it; it does nothing unless a room uses it"}
	}
	lock, err := pack.ReadLock(".")
	if err != nil {
		return err
	}
	out := forgotten{Policy: name, Packs: []string{}}
	remove, err := a.packsOf(name, lock.Find(name))
	if err != nil {
		return err
	}
	if out.Unlocked = lock.Drop(name); out.Unlocked {
		if err := lock.Write("."); err != nil {
			return err
		}
	}
	for _, digest := range remove {
		gone, err := a.Catalog().Store.Remove(name, digest)
		if err != nil {
			return err
		}
		if gone {
			out.Packs = append(out.Packs, digest)
		}
	}
	if !out.Unlocked && len(out.Packs) == 0 {
		return &problem.Error{Code: "POL-PACK-NONE", What: "no policy " + name + " is installed", Fix: "`moot policy ls` lists the policies"}
	}
	return a.Emit(out, func(io.Writer) error {
		a.Note("removed %s", name)
		return nil
	})
}

// packsOf lists the packs that rm removes: the locked one, or all of a policy
// that is not locked here.
func (a *commands) packsOf(name string, locked *pack.Locked) ([]string, error) {
	if locked != nil {
		return []string{locked.SHA256}, nil
	}
	all, err := a.Catalog().Store.List()
	var digests []string
	for _, i := range all {
		if i.Name == name {
			digests = append(digests, i.SHA256)
		}
	}
	return digests, err
}
