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

// Bounds of an archive. JSON and text compress 10 to 20 times. A file that
// compresses more than 100 times is made to fill memory.
const (
	maxFiles = 100_000
	maxEntry = 64 << 20  // bytes of a file in it
	maxTotal = 512 << 20 // bytes of all of them
	maxRatio = 100       // of sizes over a mebibyte
)

// An archive is a zip whose names and stated sizes were validated.
type archive struct {
	name  string
	files map[string]*zip.File // by cleaned name
	order []string             // names as they stand in the zip
	left  int64                // bytes that may still be read
}

// openArchive validates a zip before any file of it is read. It refuses names
// that lead out of the archive, although no file is written: such a zip was
// made to attack.
func openArchive(raw []byte, name string) (*archive, error) {
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, archiveError(name, "the zip cannot be read", err)
	}
	if len(z.File) > maxFiles {
		return nil, sizeError(name, fmt.Sprintf("the zip holds %d files, more than %d", len(z.File), maxFiles))
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
	where := a.name + "!" + truncate(clean(f.Name), 200)
	name := strings.TrimSuffix(f.Name, "/")
	size := f.UncompressedSize64
	switch {
	case name == "" || strings.ContainsAny(name, "\\\x00") || path.IsAbs(name) || path.Clean(name) != name ||
		name == ".." || strings.HasPrefix(name, "../"):
		return archiveError(where, "the file name is empty or leads out of the archive", nil)
	case f.Mode().Type()&^fs.ModeDir != 0:
		return archiveError(where, "the entry is neither a file nor a folder", nil)
	case f.FileInfo().IsDir():
		return nil
	case a.files[name] != nil:
		return archiveError(where, "the archive contains the file twice", nil)
	case size > maxEntry:
		return sizeError(where, fmt.Sprintf("the file is larger than %d MiB", maxEntry>>20))
	case size > 1<<20 && size/maxRatio > f.CompressedSize64:
		return archiveError(where, fmt.Sprintf("the file unpacks to more than %d times its size", maxRatio), nil)
	}
	a.files[name] = f
	a.order = append(a.order, name)
	return nil
}

// read returns the bytes of a file. It counts them, because the sizes that a
// zip states can be wrong.
func (a *archive) read(name string) ([]byte, error) {
	where := a.name + "!" + name
	f := a.files[name]
	r, err := f.Open()
	if err != nil {
		return nil, archiveError(where, "the file cannot be unpacked", err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, min(maxEntry, a.left)+1))
	if err != nil {
		return nil, archiveError(where, "the file cannot be unpacked", err)
	}
	if a.left -= int64(len(b)); len(b) > maxEntry || a.left < 0 {
		return nil, sizeError(where, fmt.Sprintf("the archive unpacks to more than %d MiB a file or %d MiB in all", maxEntry>>20, maxTotal>>20))
	}
	return b, nil
}

// document parses a JSON file of the archive.
func (a *archive) document(name string) (value, error) {
	b, err := a.read(name)
	if err != nil {
		return value{}, err
	}
	return parse(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), a.name+"!"+name, 0)
}
