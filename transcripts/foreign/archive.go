package foreign

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Bounds of an archive. JSON and text shrink to a tenth or a twentieth; what
// shrinks to less than a hundredth is made to fill memory.
const (
	maxFiles = 100_000
	maxEntry = 64 << 20  // bytes of a file in it
	maxTotal = 512 << 20 // bytes of all of them
	maxRatio = 100       // of sizes over a mebibyte
)

// An archive is a zip whose names and sizes were checked.
type archive struct {
	name  string
	files map[string]*zip.File // by cleaned name
	order []string             // names as they stand in the zip
	left  int64                // bytes that may still be read
}

// openArchive checks a zip before anything of it is read. Nothing is written
// anywhere, but a name that leads out of the archive is refused all the same:
// whoever made it meant no good.
func openArchive(raw []byte, name string) (*archive, error) {
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, damaged(name, "the zip cannot be read", err)
	}
	if len(z.File) > maxFiles {
		return nil, oversized(name, fmt.Sprintf("the zip holds %d files, more than %d", len(z.File), maxFiles))
	}
	a := &archive{name: name, files: map[string]*zip.File{}, left: maxTotal}
	for _, f := range z.File {
		if err := a.add(f); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *archive) add(f *zip.File) error {
	where := a.name + "!" + cut(clean(f.Name), 200)
	name := strings.TrimSuffix(f.Name, "/")
	size := f.UncompressedSize64
	switch {
	case name == "" || strings.ContainsAny(name, "\\\x00") || path.IsAbs(name) || path.Clean(name) != name ||
		name == ".." || strings.HasPrefix(name, "../"):
		return damaged(where, "the name leads out of the archive, or is none", nil)
	case f.Mode().Type()&^fs.ModeDir != 0:
		return damaged(where, "the archive holds something that is neither a file nor a folder", nil)
	case f.FileInfo().IsDir():
		return nil
	case a.files[name] != nil:
		return damaged(where, "the archive holds the file twice", nil)
	case size > maxEntry:
		return oversized(where, fmt.Sprintf("the file is larger than %d MiB", maxEntry>>20))
	case size > 1<<20 && size/maxRatio > f.CompressedSize64:
		return damaged(where, fmt.Sprintf("the file unpacks to more than %d times its size", maxRatio), nil)
	}
	a.files[name] = f
	a.order = append(a.order, name)
	return nil
}

// read returns a file's bytes. What a zip says of sizes is not believed.
func (a *archive) read(name string) ([]byte, error) {
	where := a.name + "!" + name
	f := a.files[name]
	r, err := f.Open()
	if err != nil {
		return nil, damaged(where, "the file cannot be unpacked", err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, min(maxEntry, a.left)+1))
	if err != nil {
		return nil, damaged(where, "the file cannot be unpacked", err)
	}
	if a.left -= int64(len(b)); len(b) > maxEntry || a.left < 0 {
		return nil, oversized(where, fmt.Sprintf("the archive unpacks to more than %d MiB a file or %d MiB in all", maxEntry>>20, maxTotal>>20))
	}
	return b, nil
}

// document returns a file that is JSON.
func (a *archive) document(name string) (value, error) {
	b, err := a.read(name)
	if err != nil {
		return value{}, err
	}
	return parse(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), a.name+"!"+name, 0)
}
