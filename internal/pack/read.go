package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/folkmoot/moot/policies/policy"
)

// Read decodes a pack and checks everything but its signature. It writes no
// files. Where names the pack in errors.
func Read(where string, file []byte) (*Pack, error) {
	archive, err := unpack(where, file)
	if err != nil {
		return nil, err
	}
	files, err := contents(where, archive)
	if err != nil {
		return nil, err
	}
	p := &Pack{}
	var manifest []byte
	for _, f := range files {
		switch f.Name {
		case manifestName:
			manifest = f.Text
		case moduleName:
			p.Module = f.Text
		case readmeName:
			p.Readme = f.Text
		default:
			p.Cases = append(p.Cases, File{strings.TrimPrefix(f.Name, casesFolder), f.Text})
		}
	}
	if manifest == nil || p.Module == nil {
		return nil, refuse("POL-PACK-FORM", where, "get the pack from its author again", "lacks %s or %s", manifestName, moduleName)
	}
	if p.Manifest, err = ParseManifest(where+": "+manifestName, manifest); err != nil {
		return nil, err
	}
	if err := p.coherent(where, archive); err != nil {
		return nil, err
	}
	return p, nil
}

// unpack decompresses the archive of a pack, within the limits.
func unpack(where string, file []byte) ([]byte, error) {
	bad := func(why string) ([]byte, error) {
		return nil, refuse("POL-PACK-FORM", where, "get the pack from its author again", "not a pack: %s", why)
	}
	big := func(format string, args ...any) ([]byte, error) {
		return nil, refuse("POL-PACK-SIZE", where, "do not use it, or have its author make it smaller", format, args...)
	}
	if len(file) > MaxPacked {
		return big("has %d bytes; at most %d", len(file), MaxPacked)
	}
	in := bytes.NewReader(file)
	z, err := gzip.NewReader(in)
	if err != nil {
		return bad("no gzip file")
	}
	z.Multistream(false)
	if z.Name != "" || z.Comment != "" || len(z.Extra) > 0 || !z.ModTime.IsZero() {
		return bad("its gzip header has a name, a comment or a time")
	}
	bound := min(MaxUnpacked, MaxRatio*max(len(file), minRatio))
	archive, err := io.ReadAll(io.LimitReader(z, int64(bound)+1))
	switch {
	case err != nil:
		return bad("its gzip data is damaged")
	case len(archive) > MaxUnpacked:
		return big("unpacks to more than %d bytes", MaxUnpacked)
	case len(archive) > bound:
		return big("unpacks to more than %d times its size", MaxRatio)
	case in.Len() > 0:
		return bad("something follows its end")
	}
	return archive, nil
}

// contents lists the files of an archive.
func contents(where string, archive []byte) ([]File, error) {
	var files []File
	n := names{where: where, seen: map[string]string{}}
	for t := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := t.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, refuse("POL-PACK-FORM", where, "get the pack from its author again", "not a pack: its archive is damaged")
		}
		if err := n.check(h); err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(t, MaxUnpacked))
		if err != nil {
			return nil, refuse("POL-PACK-FORM", where, "get the pack from its author again", "not a pack: %q is damaged", h.Name)
		}
		files = append(files, File{h.Name, text})
	}
}

// coherent refuses a pack whose parts do not match, or that differs from the
// output of Write.
func (p *Pack) coherent(where string, archive []byte) error {
	const again = "have its author pack it again with `moot policy pack`"
	if got := Digest(p.Module); p.Manifest.SHA256 != got {
		return refuse("POL-PACK-DIGEST", where, again, "its module has the SHA-256 %s, not the %q of its manifest", got, p.Manifest.SHA256)
	}
	if err := p.sameManifest(where); err != nil {
		return err
	}
	canonical, err := p.archive()
	if err != nil {
		return fmt.Errorf("reading pack: %w", err)
	}
	if !bytes.Equal(canonical, archive) {
		return refuse("POL-PACK-FORM", where, again, "its archive is not what `moot policy pack` writes")
	}
	return nil
}

// sameManifest compares the manifest with the one in the module, which a room
// uses.
func (p *Pack) sameManifest(where string) error {
	inside, ok, err := ManifestOf(where+": "+moduleName, p.Module)
	if err != nil {
		return err
	}
	if ok {
		a, errA := embedded(inside)
		b, errB := embedded(p.Manifest)
		if err := errors.Join(errA, errB); err != nil {
			return err
		}
		ok = bytes.Equal(a, b)
	}
	if !ok {
		return refuse("POL-PACK-DIGEST", where, "have its author pack it again with `moot policy pack`", "the manifest in its module is not %s", manifestName)
	}
	return nil
}

// Settings returns the JSON Schema of a manifest's settings, nil when it has
// none.
func Settings(m policy.Manifest) []byte {
	j, _ := m.ConfigSchema.(policy.JSON)
	return j
}
