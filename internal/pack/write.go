package pack

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"slices"

	"github.com/folkmoot/moot/policies/policy"
)

// Write encodes a pack. It also embeds the manifest in the module; the
// manifest's sha256 is the digest of the module.
func Write(p Pack) ([]byte, error) {
	where := "policy " + p.Manifest.Name
	module, err := EmbedManifest(p.Module, p.Manifest)
	if err != nil {
		return nil, refuse("POL-PACK-FORM", where, "build it again: moot policy build", "the module is refused: %v", err)
	}
	p.Module = module
	p.Manifest.Wasm, p.Manifest.SHA256 = moduleName, Digest(module)
	archive, err := p.archive()
	if err != nil {
		return nil, err
	}
	if len(archive) > MaxUnpacked {
		return nil, refuse("POL-PACK-SIZE", where, "make the module smaller", "has %d bytes unpacked; at most %d", len(archive), MaxUnpacked)
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	if _, err := z.Write(archive); err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	// Read the result, so that the author and not a user finds an invalid pack.
	if _, err := Read(where, out.Bytes()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// archive returns the canonical tar archive of p.
func (p Pack) archive() ([]byte, error) {
	manifest, err := EncodeManifest(p.Manifest)
	if err != nil {
		return nil, err
	}
	all := []File{{manifestName, manifest}, {moduleName, p.Module}, {readmeName, p.Readme}}
	cases := slices.SortedFunc(slices.Values(p.Cases), func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	for _, c := range cases {
		all = append(all, File{casesFolder + c.Name, c.Text})
	}
	var out bytes.Buffer
	t := tar.NewWriter(&out)
	for _, f := range all {
		h := tar.Header{Typeflag: tar.TypeReg, Name: f.Name, Size: int64(len(f.Text)), Mode: 0o644, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(&h); err != nil {
			return nil, fmt.Errorf("archiving %s: %w", f.Name, err)
		}
		if _, err := t.Write(f.Text); err != nil {
			return nil, fmt.Errorf("archiving %s: %w", f.Name, err)
		}
	}
	if err := t.Close(); err != nil {
		return nil, fmt.Errorf("archiving: %w", err)
	}
	return out.Bytes(), nil
}

// FileName returns the name of a pack's file.
func FileName(m policy.Manifest) string { return m.Name + "-" + m.Version + Extension }
