package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
)

// module is the smallest valid WebAssembly module.
const module = "\x00asm\x01\x00\x00\x00"

func polite(version string) Pack {
	return Pack{
		Manifest: policy.Manifest{
			Name: "polite", Version: version, ABI: 1, Description: "The addressed agent speaks <next>.",
			ConfigSchema: policy.JSON(`{"type": "object", "properties": {"maxWords": {"const": 1e2}}}`), Input: policy.Needs{NeedsText: new(bool), HistoryEvents: 7},
		},
		Module: []byte(module), Readme: []byte("# polite\n"),
		Cases: []File{{"b.yaml", []byte("steps: [{}]\n")}, {"a.yaml", []byte("steps: [{}, {}]\n")}},
	}
}

func written(t testing.TB, p Pack) []byte {
	t.Helper()
	b, err := Write(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// code returns the code of an error, "" of nil.
func code(err error) string {
	var p *problem.Error
	if errors.As(err, &p) {
		return p.Code
	}
	if err != nil {
		return "no problem: " + err.Error()
	}
	return ""
}

func TestWrittenIsRead(t *testing.T) {
	t.Parallel()
	file := written(t, polite("1.2.3"))
	p, err := Read("it", file)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Cases) != 2 || p.Cases[0].Name != "a.yaml" || string(p.Cases[1].Text) != "steps: [{}]\n" || string(p.Readme) != "# polite\n" {
		t.Errorf("read %+v", p)
	}
	m := p.Manifest
	if m.Wasm != "policy.wasm" || m.SHA256 != Digest(p.Module) || !m.Input.NoText() || m.Input.HistoryEvents != 7 {
		t.Errorf("manifest %+v", m)
	}
	inside, ok, err := ManifestOf("it", p.Module)
	if err != nil || !ok || inside.Version != "1.2.3" || inside.SHA256 != "" {
		t.Errorf("in the module: %+v, %v, %v", inside, ok, err)
	}
	// Packed again, from what was read and in another order: the same bytes.
	p.Cases[0], p.Cases[1] = p.Cases[1], p.Cases[0]
	if again := written(t, *p); !bytes.Equal(again, file) {
		t.Error("packed again it has other bytes")
	}
}

// TestBytes pins the bytes of a pack: a rebuild must match the signature. The
// test fails if a new release of Go compresses differently. Announce such a
// change to the users.
func TestBytes(t *testing.T) {
	t.Parallel()
	const want = "c33c78e2df88fa2d32af0df0f3c22209915e39a94bfb3b44d2a4511139ec92c6"
	if got := Digest(written(t, polite("1.0.0"))); got != want {
		t.Errorf("SHA-256 %s, want %s", got, want)
	}
}

// An entry is a file of an archive that is made by hand.
type entry struct {
	name, text string
	header     tar.Header
}

func archiveOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := e.header
		h.Name, h.Size = e.name, int64(len(e.text))
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipped(t testing.TB, archive []byte, change func(*gzip.Writer)) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if change != nil {
		change(w)
	}
	if _, err := w.Write(archive); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// parts are the entries of a good pack.
func parts(t testing.TB) []entry {
	t.Helper()
	archive, err := unpack("it", written(t, polite("1.0.0")))
	if err != nil {
		t.Fatal(err)
	}
	files, err := contents("it", archive)
	if err != nil {
		t.Fatal(err)
	}
	var all []entry
	for _, f := range files {
		all = append(all, entry{name: f.Name, text: string(f.Text)})
	}
	return all
}

func noise(n int) string {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	good := parts(t)
	with := func(e ...entry) []byte {
		return zipped(t, archiveOf(t, append(good[:len(good):len(good)], e...)...), nil)
	}
	changed := func(i int, e entry) []byte {
		all := append([]entry(nil), good...)
		all[i] = e
		return zipped(t, archiveOf(t, all...), nil)
	}
	many := []entry{}
	for i := range MaxFiles {
		many = append(many, entry{name: "cases/" + strings.Repeat("x", i+1) + ".yaml"})
	}
	archive := archiveOf(t, good...)
	for name, c := range map[string]struct {
		file []byte
		want string
		says string
	}{
		"as written":             {zipped(t, archive, nil), "", ""},
		"nothing":                {nil, "POL-PACK-FORM", "no gzip"},
		"a zip":                  {[]byte("PK\x03\x04" + noise(100)), "POL-PACK-FORM", "no gzip"},
		"gzip of noise":          {zipped(t, []byte(noise(4096)), nil), "POL-PACK-FORM", "damaged"},
		"half of it":             {zipped(t, archive, nil)[:200], "POL-PACK-FORM", "gzip data is damaged"},
		"something behind":       {append(zipped(t, archive, nil), 0), "POL-PACK-FORM", "follows"},
		"a second member":        {append(zipped(t, archive, nil), zipped(t, []byte("more"), nil)...), "POL-PACK-FORM", "follows"},
		"a name in gzip":         {zipped(t, archive, func(w *gzip.Writer) { w.Name = "x" }), "POL-PACK-FORM", "header"},
		"hidden in padding":      {zipped(t, append(bytes.Clone(archive), noise(512)...), nil), "POL-PACK-FORM", "what `moot policy pack` writes"},
		"another order":          {zipped(t, archiveOf(t, good[1], good[0], good[2]), nil), "POL-PACK-FORM", "what `moot policy pack` writes"},
		"an owner":               {changed(2, entry{good[2].name, good[2].text, tar.Header{Uid: 7, Uname: "root"}}), "POL-PACK-FORM", "what `moot policy pack` writes"},
		"executable":             {changed(2, entry{good[2].name, good[2].text, tar.Header{Mode: 0o4755}}), "POL-PACK-FORM", "what `moot policy pack` writes"},
		"no manifest":            {zipped(t, archiveOf(t, good[1:]...), nil), "POL-PACK-FORM", "lacks"},
		"no module":              {zipped(t, archiveOf(t, good[0]), nil), "POL-PACK-FORM", "lacks"},
		"too large":              {[]byte(noise(MaxPacked + 1)), "POL-PACK-SIZE", "at most 2097152"},
		"a bomb":                 {zipped(t, make([]byte, 100<<20), nil), "POL-PACK-SIZE", "times its size"},
		"over 8 MiB":             {zipped(t, append([]byte(noise(1<<20)), make([]byte, 8<<20)...), nil), "POL-PACK-SIZE", "more than 8388608"},
		"33 files":               {with(many...), "POL-PACK-SIZE", "more than 32 files"},
		"a symbolic link":        {with(entry{"cases/c.yaml", "", tar.Header{Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}}), "POL-PACK-NAME", "link"},
		"a hard link":            {with(entry{"cases/c.yaml", "", tar.Header{Typeflag: tar.TypeLink, Linkname: "policy.json"}}), "POL-PACK-NAME", "link"},
		"a folder":               {with(entry{"cases/", "", tar.Header{Typeflag: tar.TypeDir}}), "POL-PACK-NAME", "no plain file"},
		"a device":               {with(entry{"cases/c.yaml", "", tar.Header{Typeflag: tar.TypeChar}}), "POL-PACK-NAME", "no plain file"},
		"an absolute name":       {with(entry{name: "/etc/cron.d/x"}), "POL-PACK-NAME", "absolute"},
		"a drive":                {with(entry{name: `C:\x`}), "POL-PACK-NAME", "absolute"},
		"a way out":              {with(entry{name: "../../x"}), "POL-PACK-NAME", "leads out"},
		"a way out, later":       {with(entry{name: "cases/../../x"}), "POL-PACK-NAME", "leads out"},
		"a way out, backslashes": {with(entry{name: `cases\..\..\x`}), "POL-PACK-NAME", "leads out"},
		"twice":                  {with(entry{name: "policy.json", text: "{}"}), "POL-PACK-NAME", `"policy.json" twice`},
		"twice but for case":     {with(entry{name: "cases/A.yaml"}), "POL-PACK-NAME", "case only"},
		"twice but for case, 2":  {with(entry{name: "Policy.json"}), "POL-PACK-NAME", "case only"},
		"a program":              {with(entry{name: "install.sh"}), "POL-PACK-NAME", "a pack holds"},
		"a case of a case":       {with(entry{name: "cases/x/y.yaml"}), "POL-PACK-NAME", "a pack holds"},
		"a hidden case":          {with(entry{name: "cases/.x.yaml"}), "POL-PACK-NAME", "a pack holds"},
		"a NUL":                  {with(entry{name: "cases/x.yaml", header: tar.Header{PAXRecords: map[string]string{"MOOT.x": "y"}, Format: tar.FormatPAX}}), "POL-PACK-FORM", "what `moot policy pack` writes"},
		"another module":         {changed(1, entry{name: "policy.wasm", text: good[1].text + "\x00\x02\x01x"}), "POL-PACK-DIGEST", "its module has the SHA-256"},
		"another manifest":       {changed(0, entry{name: "policy.json", text: strings.Replace(good[0].text, "1.0.0", "9.0.0", 1)}), "POL-PACK-DIGEST", "the manifest in its module"},
		"a manifest for ABI 2":   {changed(0, entry{name: "policy.json", text: strings.Replace(good[0].text, `"abi": 1`, `"abi": 2`, 1)}), "POL-ABI", "ABI 2"},
		"no JSON":                {changed(0, entry{name: "policy.json", text: "name: polite"}), "POL-MANIFEST", "cannot be read"},
	} {
		p, err := Read("it", c.file)
		if code(err) != c.want || c.want != "" && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s with %q", name, err, c.want, c.says)
		}
		if (p == nil) != (err != nil) {
			t.Errorf("%s: a pack and an error", name)
		}
	}
}

func TestNoFlipChangesWhatIsRead(t *testing.T) {
	t.Parallel()
	file := written(t, polite("1.0.0"))
	want, err := unpack("it", file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range file {
		for bit := range 8 {
			if testing.Short() && bit != i%8 {
				continue // one of a byte: the race detector makes this slow
			}
			flipped := bytes.Clone(file)
			flipped[i] ^= 1 << bit
			if _, err := Read("it", flipped); err != nil {
				continue
			}
			// A few bits of gzip mean nothing; a lock's digest is of them too.
			if got, err := unpack("it", flipped); err != nil || !bytes.Equal(got, want) {
				t.Errorf("byte %d, bit %d: read", i, bit)
			}
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	big := polite("1.0.0")
	big.Module = append([]byte(module), "\x00\x85\x80\xc0\x01\x01x"+noise(3<<20+3)...)
	long := polite("1.0.0")
	long.Readme = []byte(strings.Repeat(noise(1<<10), 9<<10))
	many := polite("1.0.0")
	for i := range MaxFiles {
		many.Cases = append(many.Cases, File{strings.Repeat("c", i+1) + ".yaml", nil})
	}
	odd := polite("1.0.0")
	odd.Cases = append(odd.Cases, File{"../x.yaml", nil})
	text := polite("1.0.0")
	text.Module = []byte("(module)")
	for name, c := range map[string]struct {
		p    Pack
		want string
	}{
		"too large":      {big, "POL-PACK-SIZE"},
		"over 8 MiB":     {long, "POL-PACK-SIZE"},
		"too many":       {many, "POL-PACK-SIZE"},
		"a case outside": {odd, "POL-PACK-NAME"},
		"no module":      {text, "POL-PACK-FORM"},
		"no version":     {polite("one"), "POL-MANIFEST"},
	} {
		if _, err := Write(c.p); code(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	good := written(f, polite("1.0.0"))
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(zipped(f, archiveOf(f, entry{name: "../x", text: "y"}), nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Read("it", b)
		if err != nil {
			if !strings.HasPrefix(code(err), "POL-") {
				t.Errorf("no code: %v", err)
			}
			return
		}
		if _, err := Write(*p); err != nil {
			t.Errorf("what was read cannot be written: %v", err)
		}
	})
}

// FuzzArchive goes behind gzip, which random bytes hardly pass.
func FuzzArchive(f *testing.F) {
	archive, err := unpack("it", written(f, polite("1.0.0")))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(archive)
	f.Add(archiveOf(f, entry{"x", "y", tar.Header{PAXRecords: map[string]string{"a.b": "c"}, Format: tar.FormatPAX}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Read("it", zipped(t, b, nil))
		if err == nil && !bytes.Equal(b, archive) && p.Manifest.SHA256 != Digest(p.Module) {
			t.Error("read, and wrong")
		}
	})
}

func FuzzParse(f *testing.F) {
	m, err := EncodeManifest(polite("1.0.0").Manifest)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(m)
	f.Add([]byte(`{"lock_version":1,"policies":[{"name":"a","version":"1.0.0","sha256":"` + strings.Repeat("0", 64) + `"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := ParseManifest("it", b); err == nil {
			text, err := EncodeManifest(m)
			if err != nil {
				t.Fatal(err)
			}
			again, err := ParseManifest("it", text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if twice, err := EncodeManifest(again); err != nil || !bytes.Equal(twice, text) {
				t.Errorf("%s becomes %s, %v", text, twice, err)
			}
		}
		if l, err := ParseLock(b); err == nil {
			for _, e := range l.Policies {
				if err := l.Admit("it", e); err != nil {
					t.Errorf("what is locked is refused: %v", err)
				}
			}
		}
		if out, err := Embed(b, SectionManifest, []byte("x")); err == nil {
			if twice, err := Embed(out, SectionManifest, []byte("x")); err != nil || !bytes.Equal(twice, out) {
				t.Errorf("embedded twice is something else, %v", err)
			}
		}
	})
}

// TestNothingOutside: the store writes in its folder only, also through links
// that lie there.
func TestNothingOutside(t *testing.T) {
	t.Parallel()
	outside, dir := t.TempDir(), filepath.Join(t.TempDir(), "policies")
	file := written(t, polite("1.0.0"))
	s := NewStore(dir)
	for _, name := range []string{"../polite", "/polite", "a/b", "..", "", "Polite", `a\b`} {
		if _, err := s.Put(name, file); code(err) != "POL-PACK-NAME" {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "polite")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if _, err := s.Put("polite", file); code(err) != "POL-STORE" {
		t.Errorf("through a link: %v", err)
	}
	if found, err := os.ReadDir(outside); err != nil || len(found) > 0 {
		t.Errorf("outside lies %v, %v", found, err)
	}
}
