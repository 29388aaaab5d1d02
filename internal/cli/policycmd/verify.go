package policycmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/problem"
)

// trustFlags say which signature a user accepts.
type trustFlags struct {
	key      string
	unsigned bool
}

func (f *trustFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.key, "key", "", "public key of the author, the line that begins with RW, or its file")
	cmd.Flags().BoolVar(&f.unsigned, "unsigned", false, "accept a pack without a signature")
}

// newPolicyVerifyCmd checks a pack without installing it.
func newPolicyVerifyCmd(a *commands) *cobra.Command {
	var f trustFlags
	cmd := &cobra.Command{
		Use:   "verify PACK",
		Short: "Check a pack: its form, its digests, its signature and what moot.lock says",
		Long: "verify checks a pack as install does, and changes nothing. The signature is\n" +
			"PACK.minisig; it has to be of the key that --key names, else of the one that\n" +
			"moot.lock in this folder has. It ends with 3 and a reason when the pack is\n" +
			"damaged, was tampered with, is signed with another key, is older than what is\n" +
			"locked, or has other bytes than a locked pack of the same version.",
		Example: "  moot policy verify polite-1.0.0.tar.gz --key polite.pub\n  moot policy verify polite-1.0.0.tar.gz --unsigned -o json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			v, _, err := verifyPack(args[0], f)
			if err != nil {
				return err
			}
			return a.Emit(v, v.print)
		},
	}
	f.add(cmd)
	return cmd
}

// A vetted is a pack that may be installed.
type vetted struct {
	Policy  string `json:"policy"`
	Version string `json:"version"`
	File    string `json:"file"`
	SHA256  string `json:"sha256"`
	Module  string `json:"module_sha256"`
	Key     string `json:"key,omitempty"` // whose signature it has; "" is nobody's
	lock    *pack.Lock
	policy  *catalog.Entry
}

func (v *vetted) entry() pack.Locked {
	return pack.Locked{Name: v.Policy, Version: v.Version, SHA256: v.SHA256, Key: v.Key}
}

// verifyPack checks a pack's file: its form, its signature and moot.lock.
func verifyPack(path string, f trustFlags) (*vetted, []byte, error) {
	lock, err := pack.ReadLock(".")
	if err != nil {
		return nil, nil, err
	}
	file, err := readBounded(path, pack.MaxPacked)
	if err != nil {
		return nil, nil, err
	}
	p, err := pack.Read(path, file)
	if err != nil {
		return nil, nil, err
	}
	v := &vetted{
		Policy: p.Manifest.Name, Version: p.Manifest.Version, File: path, SHA256: pack.Digest(file), Module: p.Manifest.SHA256,
		lock: lock, policy: catalog.FromPack(p, catalog.Pack, path),
	}
	if v.Key, err = vouched(path, file, f, lock.Find(v.Policy)); err != nil {
		return nil, nil, err
	}
	if err := v.policy.CheckName(); err != nil {
		return nil, nil, err
	}
	if err := v.policy.CheckHost(); err != nil {
		return nil, nil, err
	}
	return v, file, lock.Admit(path, v.entry())
}

// vouched returns the key that signed a pack, "" for an unsigned pack that is
// accepted. The expected key is never taken from the pack.
func vouched(path string, file []byte, f trustFlags, locked *pack.Locked) (string, error) {
	signature, err := readBounded(path+pack.SignatureExtension, 16<<10)
	if errors.Is(err, fs.ErrNotExist) {
		if f.unsigned && f.key == "" {
			return "", nil
		}
		return "", &problem.Error{
			Code: "POL-PACK-UNSIGNED", What: "the pack is not signed: there is no " + path + pack.SignatureExtension, Where: path,
			Fix: "get the signature from its author, or take it as it is with --unsigned",
		}
	}
	if err != nil {
		return "", err
	}
	wanted := f.key
	if wanted == "" && locked != nil {
		wanted = locked.Key
	}
	if wanted == "" && f.unsigned {
		return "", nil
	}
	if wanted == "" {
		return "", &problem.Error{
			Code: "POL-PACK-KEY", What: "no key is configured that could verify this pack", Where: path,
			Fix: "pass the author's public key with --key; take it from a source that you trust, not from the place of the pack",
		}
	}
	key, err := pack.ReadKey(wanted)
	if err != nil {
		return "", err
	}
	return key.String(), pack.Verify(path, file, signature, key)
}

// readBounded reads at most one byte more than is allowed, so that the caller
// can detect a file that is too large.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		var b []byte
		if b, err = io.ReadAll(io.LimitReader(f, most+1)); err == nil {
			return b, nil
		}
	}
	return nil, &problem.Error{Code: "POL-PACK-FORM", What: "the pack cannot be read", Where: path, Err: err, Fix: "name a file that `moot policy pack` wrote"}
}

func (v *vetted) print(w io.Writer) error {
	return app.Table(w, []string{"policy", v.Policy + " " + v.Version}, [][]string{
		{"pack", v.File}, {"sha256", v.SHA256}, {"module", "sha256 " + v.Module}, {"signed", signedBy(v.Key)},
	})
}

func signedBy(key string) string {
	k, err := pack.ParsePublicKey(key)
	if err != nil {
		return "not verified"
	}
	return fmt.Sprintf("by key %s, %s", pack.KeyID(k), key)
}
