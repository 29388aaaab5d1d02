package pack

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/folkmoot/moot/internal/strict"
)

// LockName is the file that pins the installed policies of a folder. It is
// next to room.yaml and belongs into version control.
const LockName = "moot.lock"

const (
	lockVersion = 1
	maxLock     = 1 << 20 // bytes
)

// A Lock pins the packs that the rooms of a folder use. The zero Lock is empty.
type Lock struct {
	Policies []Locked // by name
}

// A Locked is one pinned pack.
type Locked struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"`        // of the pack's file, hex
	Key     string `json:"key,omitempty"` // of the signer; empty: installed with --unsigned
}

type wireLock struct {
	Version  int      `json:"lock_version"`
	Policies []Locked `json:"policies"`
}

// ReadLock reads the lock of a folder. Without a file it returns an empty lock.
// The errors are POL-LOCK.
func ReadLock(dir string) (*Lock, error) {
	path := filepath.Join(dir, LockName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Lock{}, nil
	}
	if err != nil {
		return nil, Refuse("POL-LOCK", path, "let it be readable", "the lock cannot be read: %s", Reason(err))
	}
	l, err := ParseLock(text)
	if err != nil {
		return nil, Refuse("POL-LOCK", path, "restore it from version control, or remove it and install the policies again", "the lock is refused: %v", err)
	}
	return l, nil
}

// ParseLock reads a lock's text.
func ParseLock(text []byte) (*Lock, error) {
	if len(text) > maxLock {
		return nil, fmt.Errorf("it has %d bytes; at most %d", len(text), maxLock)
	}
	var w wireLock
	if err := strict.Decode(text, maxDepth, &w); err != nil {
		return nil, err
	}
	if w.Version != lockVersion {
		return nil, fmt.Errorf("its lock_version is %d; this moot reads %d", w.Version, lockVersion)
	}
	seen := map[string]bool{}
	for _, e := range w.Policies {
		if err := e.wrong(); err != nil {
			return nil, err
		}
		if seen[e.Name] {
			return nil, fmt.Errorf("%s is there twice", e.Name)
		}
		seen[e.Name] = true
	}
	return &Lock{w.Policies}, nil
}

func (e Locked) wrong() error {
	if !ValidName(e.Name) || !ValidVersion(e.Version) || !digestForm.MatchString(e.SHA256) {
		return fmt.Errorf("the entry %q is not one", clip(e.Name))
	}
	if e.Key != "" {
		if _, err := ParsePublicKey(e.Key); err != nil {
			return fmt.Errorf("the key of %s is none", e.Name)
		}
	}
	return nil
}

// Find returns the entry of a policy, or nil.
func (l *Lock) Find(name string) *Locked {
	i := slices.IndexFunc(l.Policies, func(e Locked) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	return &l.Policies[i]
}

// Admit refuses a pack that must not replace the locked one: a pack with another
// signature key or without one, an older version, and other bytes of the same
// version.
func (l *Lock) Admit(where string, e Locked) error {
	old := l.Find(e.Name)
	if old == nil {
		return nil
	}
	fix := "ask its author; if it is right, forget the old one first: moot policy rm " + e.Name
	switch c := CompareVersions(e.Version, old.Version); {
	case e.Key != old.Key && e.Key == "":
		return Refuse("POL-PACK-KEY", where, fix, "is not signed; %s %s was, with %s", old.Name, old.Version, keyID(old.Key))
	case e.Key != old.Key && old.Key != "":
		return Refuse("POL-PACK-KEY", where, fix, "is signed with %s; %s %s was with %s", keyID(e.Key), old.Name, old.Version, keyID(old.Key))
	case c < 0:
		return Refuse("POL-PACK-OLDER", where, fix, "is version %s; %s is locked at %s, which is newer", e.Version, old.Name, old.Version)
	case c == 0 && e.SHA256 != old.SHA256:
		return Refuse("POL-PACK-CHANGED", where, fix, "claims to be %s %s, which is locked with other bytes: SHA-256 %s, not %s", old.Name, old.Version, old.SHA256, e.SHA256)
	}
	return nil
}

// keyID returns the short form of a key for messages.
func keyID(key string) string {
	k, err := ParsePublicKey(key)
	if err != nil {
		return "no key"
	}
	return "key " + KeyID(k)
}

// Set adds an entry and replaces the entry of the same name.
func (l *Lock) Set(e Locked) {
	l.Drop(e.Name)
	l.Policies = append(l.Policies, e)
	slices.SortFunc(l.Policies, func(a, b Locked) int { return cmp.Compare(a.Name, b.Name) })
}

// Drop removes the entry of a policy and reports whether there was one.
func (l *Lock) Drop(name string) bool {
	n := len(l.Policies)
	l.Policies = slices.DeleteFunc(l.Policies, func(e Locked) bool { return e.Name == name })
	return len(l.Policies) < n
}

// Write replaces the lock of a folder atomically.
func (l *Lock) Write(dir string) error {
	w := wireLock{lockVersion, l.Policies}
	if w.Policies == nil {
		w.Policies = []Locked{}
	}
	text, err := encodeJSON(w)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err == nil {
		defer root.Close()
		err = replace(root, LockName, text)
	}
	if err != nil {
		return Refuse("POL-LOCK", filepath.Join(dir, LockName), "let the folder be writable", "the lock cannot be written: %s", Reason(err))
	}
	return nil
}
