package policycmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/problem"
)

// packFlags are those of `moot policy pack`.
type packFlags struct {
	key, newKey, out string
	passphrase       bool
}

// newPolicyPackCmd makes one file of a policy.
func newPolicyPackCmd(a *commands) *cobra.Command {
	var f packFlags
	cmd := &cobra.Command{
		Use:   "pack [FOLDER]",
		Short: "Make one file of a policy, to share it",
		Long: "pack writes NAME-VERSION.tar.gz with the policy's manifest, module, README.md and\n" +
			"cases; the same folder gives the same bytes. With --key it is signed: the\n" +
			"signature is a second file, in the form of minisign (`minisign -V` verifies it too).\n" +
			"--new-key makes the key first: FILE holds the secret, for you alone, and\n" +
			"FILE.pub what you give to others.",
		Example: "  moot policy pack\n  moot policy pack --new-key ~/moot.key --passphrase\n  moot policy pack ./polite --key ~/moot.key --out dist",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.key != "" && f.newKey != "" {
				return app.Usagef(cmd, "--key names a key that is there, --new-key makes one: give one of them")
			}
			return a.packPolicy(cmd.Context(), append(args, ".")[0], f)
		},
	}
	cmd.Flags().StringVar(&f.key, "key", "", "file of the secret key to sign with")
	cmd.Flags().StringVar(&f.newKey, "new-key", "", "make a key pair in this file and FILE.pub, and sign with it")
	cmd.Flags().BoolVar(&f.passphrase, "passphrase", false, "seal the new key with a passphrase, which is asked for, or the first line of stdin")
	cmd.Flags().StringVar(&f.out, "out", ".", "folder to write to")
	a.FuelFlag(cmd)
	return cmd
}

// A packed is a pack that was written.
type packed struct {
	Policy    string `json:"policy"`
	Version   string `json:"version"`
	File      string `json:"file"`
	Bytes     int    `json:"bytes"`
	SHA256    string `json:"sha256"`        // of the file
	Module    string `json:"module_sha256"` // for policy.sha256 of room.yaml
	Signature string `json:"signature,omitempty"`
	Key       string `json:"key,omitempty"` // the public one
}

func (a *commands) packPolicy(ctx context.Context, dir string, f packFlags) error {
	s, err := a.Catalog().At(ctx, dir)
	if err != nil {
		return err
	}
	if s.Folder == nil {
		return &problem.Error{Code: "POL-FOLDER", What: "not a policy's folder", Where: dir, Fix: "name the folder that the policy is built in"}
	}
	if err := a.tryLoading(ctx, s); err != nil {
		return err
	}
	contents, err := s.Folder.Pack(s.Wasm)
	if err != nil {
		return err
	}
	file, err := pack.Write(contents)
	if err != nil {
		return err
	}
	out := packed{
		Policy: s.Manifest.Name, Version: s.Manifest.Version, File: filepath.Join(f.out, pack.FileName(s.Manifest)),
		Bytes: len(file), SHA256: pack.Digest(file), Module: s.Manifest.SHA256,
	}
	if err := a.writePack(&out, file, f); err != nil {
		return err
	}
	return a.Emit(out, out.print)
}

// tryLoading reports a policy that no room could load.
func (a *commands) tryLoading(ctx context.Context, s *catalog.Entry) error {
	if err := s.CheckDefaults(ctx); err != nil {
		return err
	}
	_, err := a.loadTime(ctx, s, "", nil)
	return err
}

// writePack signs a pack and writes both files.
func (a *commands) writePack(p *packed, file []byte, f packFlags) error {
	key, err := a.signingKey(f)
	if err != nil {
		return err
	}
	var signature []byte
	stale := p.File + pack.SignatureExtension
	if key != nil {
		if signature, err = pack.Sign(*key, file, fmt.Sprintf("policy %s %s", p.Policy, p.Version)); err != nil {
			return err
		}
		p.Signature, p.Key = stale, pack.Public(*key).String()
	}
	unwritten := &problem.Error{Code: "POL-FOLDER", What: "the pack cannot be written", Where: p.File, Fix: "name a folder that can be written: --out"}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		unwritten.Err = err
		return unwritten
	}
	_ = os.Remove(stale) // one of other bytes would be taken for this one's
	if err := os.WriteFile(p.File, file, 0o644); err != nil {
		unwritten.Err = err
		return unwritten
	}
	if signature == nil {
		return nil
	}
	if err := os.WriteFile(p.Signature, signature, 0o644); err != nil {
		unwritten.Err, unwritten.Where = err, p.Signature
		return unwritten
	}
	return nil
}

// signingKey reads or makes the key to sign with; nil is none.
func (a *commands) signingKey(f packFlags) (*pack.SecretKey, error) {
	switch {
	case f.newKey != "":
		var phrase []byte
		if f.passphrase {
			var err error
			if phrase, err = a.AskPassphrase("Passphrase for the new key: "); err != nil {
				return nil, err
			}
		}
		k, err := pack.NewKey()
		if err != nil {
			return nil, err
		}
		return &k, pack.WriteKey(f.newKey, k, phrase)
	case f.key != "":
		k, err := pack.ReadSecretKey(f.key, func() ([]byte, error) { return a.AskPassphrase("Passphrase of " + f.key + ": ") })
		return &k, err
	}
	return nil, nil
}

func (p packed) print(w io.Writer) error {
	signed := "not signed; installing it will need --unsigned, or pack it with --key"
	if p.Key != "" {
		signed = p.Signature + ", by " + p.Key
	}
	return app.Table(w, []string{"pack", p.File}, [][]string{
		{"bytes", fmt.Sprint(p.Bytes)}, {"sha256", p.SHA256}, {"module", "sha256 " + p.Module}, {"signature", signed},
	})
}
