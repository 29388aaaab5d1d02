package pack

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
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
		return nil, Refuse("POL-PACK-FORM", where, "get the pack from its author again", "lacks %s or %s", manifestName, moduleName)
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
		return nil, Refuse("POL-PACK-FORM", where, "get the pack from its author again", "not a pack: %s", why)
	}
	big := func(format string, args ...any) ([]byte, error) {
		return nil, Refuse("POL-PACK-SIZE", where, "do not use it, or have its author make it smaller", format, args...)
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
			return nil, Refuse("POL-PACK-FORM", where, "get the pack from its author again", "not a pack: its archive is damaged")
		}
		if err := n.check(h); err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(t, MaxUnpacked))
		if err != nil {
			return nil, Refuse("POL-PACK-FORM", where, "get the pack from its author again", "not a pack: %q is damaged", h.Name)
		}
		files = append(files, File{h.Name, text})
	}
}

// coherent refuses a pack whose parts do not match, or that differs from the
// output of Write.
func (p *Pack) coherent(where string, archive []byte) error {
	const again = "have its author pack it again with `moot policy pack`"
	if got := Digest(p.Module); p.Manifest.SHA256 != got {
		return Refuse("POL-PACK-DIGEST", where, again, "its module has the SHA-256 %s, not the %q of its manifest", got, p.Manifest.SHA256)
	}
	if err := p.sameManifest(where); err != nil {
		return err
	}
	canonical, err := p.archive()
	if err != nil {
		return fmt.Errorf("reading pack: %w", err)
	}
	if !bytes.Equal(canonical, archive) {
		return Refuse("POL-PACK-FORM", where, again, "its archive is not what `moot policy pack` writes")
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
		return Refuse("POL-PACK-DIGEST", where, "have its author pack it again with `moot policy pack`", "the manifest in its module is not %s", manifestName)
	}
	return nil
}

// Settings returns the JSON Schema of a manifest's settings, or nil.
func Settings(m policy.Manifest) []byte {
	j, _ := m.ConfigSchema.(policy.JSON)
	return j
}

var caseForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\.yaml$`)

// names checks the file names of a pack, one after another.
type names struct {
	where string
	seen  map[string]string // by lower case
}

// check refuses a file because of its header.
func (n *names) check(h *tar.Header) error {
	bad := func(format string, args ...any) error {
		return Refuse("POL-PACK-NAME", n.where, "get the pack from its author again: `moot policy pack` never writes this", format, args...)
	}
	fold := strings.ToLower(h.Name)
	before, twice := n.seen[fold]
	switch {
	case h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink || h.Linkname != "":
		return bad("holds a link, %q", clip(h.Name))
	case h.Typeflag != tar.TypeReg:
		return bad("holds %q, which is no plain file", clip(h.Name))
	case strings.HasPrefix(h.Name, "/") || strings.HasPrefix(h.Name, `\`) || len(h.Name) > 1 && h.Name[1] == ':':
		return bad("holds the absolute name %q", clip(h.Name))
	case h.Name == ".." || strings.HasPrefix(h.Name, "../") || strings.Contains(h.Name, "/..") || strings.Contains(h.Name, `..\`):
		return bad("holds the name %q, which leads out of its folder", clip(h.Name))
	case twice && before == h.Name:
		return bad("holds %q twice", clip(h.Name))
	case twice:
		return bad("holds %q and %q, which differ in case only", clip(before), clip(h.Name))
	case !known(h.Name):
		return bad("holds %q; a pack holds policy.json, policy.wasm, README.md and cases/NAME.yaml", clip(h.Name))
	case len(n.seen) == MaxFiles:
		return Refuse("POL-PACK-SIZE", n.where, "leave some cases out", "holds more than %d files", MaxFiles)
	}
	n.seen[fold] = h.Name
	return nil
}

// known reports whether a pack may contain a file of that name.
func known(name string) bool {
	dir, base := path.Split(name)
	switch dir {
	case "":
		return base == manifestName || base == moduleName || base == readmeName
	case casesFolder:
		return caseForm.MatchString(base)
	}
	return false
}

// clip limits the length of an untrusted name in a message.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}

// Write encodes a pack. It also embeds the manifest in the module; the
// manifest's sha256 is the digest of the module.
func Write(p Pack) ([]byte, error) {
	where := "policy " + p.Manifest.Name
	module, err := EmbedManifest(p.Module, p.Manifest)
	if err != nil {
		return nil, Refuse("POL-PACK-FORM", where, "build it again: moot policy build", "the module is refused: %v", err)
	}
	p.Module = module
	p.Manifest.Wasm, p.Manifest.SHA256 = moduleName, Digest(module)
	archive, err := p.archive()
	if err != nil {
		return nil, err
	}
	if len(archive) > MaxUnpacked {
		return nil, Refuse("POL-PACK-SIZE", where, "make the module smaller", "has %d bytes unpacked; at most %d", len(archive), MaxUnpacked)
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	_, err = z.Write(archive)
	if err := errors.Join(err, z.Close()); err != nil {
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
