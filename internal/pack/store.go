package pack

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Store is the folder of the installed packs. Each is an unchanged file,
// NAME/SHA256.tar.gz. The store never unpacks a pack on disk and writes only
// inside its folder. It is safe for concurrent use, also by several processes:
// each file is replaced atomically.
type Store struct{ dir string }

// NewStore returns the store in a folder, which need not exist.
func NewStore(dir string) Store { return Store{dir} }

func (s Store) file(name, digest string) string { return path.Join(name, digest+Extension) }

// Path returns the path of a pack.
func (s Store) Path(name, digest string) string {
	return filepath.Join(s.dir, filepath.FromSlash(s.file(name, digest)))
}

// Put stores the file of a pack that [Read] accepted. Name is its policy's.
func (s Store) Put(name string, file []byte) (digest string, err error) {
	digest = Digest(file)
	if !ValidName(name) {
		return "", Refuse("POL-PACK-NAME", s.dir, "", "%q cannot be the name of a policy", clip(name))
	}
	if err := s.put(name, digest, file); err != nil {
		return "", Refuse("POL-STORE", s.Path(name, digest), "choose a data folder that can be written: --data", "the pack cannot be kept: %s", Reason(err))
	}
	return digest, nil
}

func (s Store) put(name, digest string, file []byte) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(name, 0o700); err != nil {
		return err
	}
	return replace(root, s.file(name, digest), file)
}

// replace replaces a file of root atomically.
func replace(root *os.Root, name string, text []byte) error {
	var random [8]byte
	rand.Read(random[:])
	temp := name + "." + hex.EncodeToString(random[:]) + ".new"
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

// Get reads a pack of the store and checks the digest of its bytes and the name
// of its policy.
func (s Store) Get(name, digest string) (*Pack, error) {
	where := s.Path(name, digest)
	again := "install it again: moot policy install PACK"
	if !ValidName(name) || !digestForm.MatchString(digest) {
		return nil, Refuse("POL-PACK-NONE", where, again, "cannot be a pack")
	}
	file, err := s.read(s.file(name, digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Refuse("POL-PACK-NONE", where, again, "the pack of %s is not in the data folder", name)
	}
	if err != nil {
		return nil, Refuse("POL-STORE", where, again, "the pack cannot be read: %s", Reason(err))
	}
	if got := Digest(file); got != digest {
		return nil, Refuse("POL-PACK-DIGEST", where, again, "the pack was altered: its SHA-256 is %s", got)
	}
	p, err := Read(where, file)
	if err == nil && p.Manifest.Name != name {
		err = Refuse("POL-PACK-DIGEST", where, again, "is the policy %s", p.Manifest.Name)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (s Store) read(name string) ([]byte, error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxPacked+1))
}

// An Installed is a pack of the store.
type Installed struct{ Name, SHA256 string }

// List returns the installed packs, sorted by name and digest. A store without
// a folder is empty.
func (s Store) List() ([]Installed, error) {
	files, err := fs.Glob(os.DirFS(s.dir), "*/*"+Extension)
	if err != nil {
		return nil, Refuse("POL-STORE", s.dir, "", "the folder cannot be listed: %s", Reason(err))
	}
	var all []Installed
	for _, f := range files {
		name, base := path.Split(f)
		i := Installed{strings.TrimSuffix(name, "/"), strings.TrimSuffix(base, Extension)}
		if ValidName(i.Name) && digestForm.MatchString(i.SHA256) {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b Installed) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.SHA256, b.SHA256))
	})
	return all, nil
}

// Remove removes a pack and reports whether it was there.
func (s Store) Remove(name, digest string) (bool, error) {
	if !ValidName(name) || !digestForm.MatchString(digest) {
		return false, nil
	}
	root, err := os.OpenRoot(s.dir)
	if err == nil {
		defer root.Close()
		err = root.Remove(s.file(name, digest))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, Refuse("POL-STORE", s.Path(name, digest), "", "the pack cannot be removed: %s", Reason(err))
	}
	_ = root.Remove(name) // fails if the folder has other packs
	return true, nil
}
