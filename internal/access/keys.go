package access

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/internal/flock"
	"github.com/folkmoot/moot/problem"
)

// Keys mints and checks the tokens of one data folder. Tokens are stateless: a
// MAC with the key in the folder proves that they were minted here. Only the
// tokens that were issued by name and the revoked ones are stored, without the
// tokens themselves. Keys is safe for concurrent use, also by several processes.
type Keys struct {
	dir    string
	secret []byte
	issued registry
}

// keyBytes is the length of the secret.
const keyBytes = 32

// OpenKeys opens the keys in dir, which is DATA/server, and makes folder and key if
// they are missing.
func OpenKeys(dir string) (*Keys, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the server's keys: %w", err)
	}
	k := &Keys{dir: dir, issued: registry{path: filepath.Join(dir, "tokens.json")}}
	unlock, err := k.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	path := filepath.Join(dir, "key")
	if k.secret, err = readSecret(path); errors.Is(err, fs.ErrNotExist) {
		k.secret = make([]byte, keyBytes)
		rand.Read(k.secret)
		err = atomicfile.WriteDurable(path, []byte(hex.EncodeToString(k.secret)+"\n"))
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// lock excludes other processes that change the files of the folder.
func (k *Keys) lock() (unlock func(), err error) { return flock.Lock(filepath.Join(k.dir, "lock")) }

func readSecret(path string) ([]byte, error) {
	text, err := readPrivate(path)
	if err != nil {
		return nil, err
	}
	secret, err := hex.DecodeString(text)
	if err != nil || len(secret) != keyBytes {
		return nil, &problem.Error{Code: "SERVER-KEY", What: "the key of the server's tokens is damaged", Where: path, Fix: "remove the file; a new key is made, and all tokens end"}
	}
	return secret, nil
}

// readPrivate reads a short file that only this user may read.
func readPrivate(path string) (string, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || info.Size() > maxToken:
		return "", &problem.Error{Code: "SERVER-KEY", What: "this is not a file that moot has written", Where: path, Fix: "remove it"}
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", &problem.Error{Code: "SERVER-KEY", What: fmt.Sprintf("other users may read the file (mode %04o)", info.Mode().Perm()), Where: path, Fix: "remove it, as others may know it; moot makes a new one"}
	}
	b, err := os.ReadFile(path)
	return strings.TrimSpace(string(b)), err
}

// Mint returns a token that carries g, and g with its new id. The token is not
// listed.
func (k *Keys) Mint(g Grant) (string, Grant, error) {
	g.ID = "t_" + random(9)
	if !g.Expires.IsZero() {
		g.Expires = g.Expires.UTC().Truncate(time.Second)
	}
	if err := g.check(); err != nil {
		return "", g, err
	}
	token, err := seal(k.secret, g)
	return token, g, err
}

// Issue is Mint for a token that [Keys.List] lists.
func (k *Keys) Issue(g Grant) (string, Issued, error) {
	token, g, err := k.Mint(g)
	if err != nil {
		return "", Issued{}, err
	}
	t := Issued{Grant: g, Created: time.Now().UTC().Truncate(time.Second)}
	return token, t, k.change(func(r *records) { r.Issued = append(r.Issued, t) })
}

// Check returns what a token allows. Its errors are [ErrToken], [ErrExpired],
// [ErrRevoked], and those of the list of revoked tokens, without which no token
// is valid.
func (k *Keys) Check(token string) (Grant, error) {
	g, err := unseal(k.secret, token)
	if err != nil {
		return Grant{}, err
	}
	if g.expired(time.Now()) {
		return Grant{}, ErrExpired
	}
	r, err := k.issued.read()
	switch {
	case err != nil:
		return Grant{}, err
	case r.revoked(g.ID):
		return Grant{}, ErrRevoked
	}
	return g, nil
}

// List returns the tokens that were issued by name, the oldest first.
func (k *Keys) List() ([]Issued, error) {
	r, err := k.issued.read()
	return slices.Clone(r.Issued), err
}

// Revoke ends the token with that id, for all processes of the data folder. A
// token that was not issued by name can be revoked too.
func (k *Keys) Revoke(id string) error {
	if !strings.HasPrefix(id, "t_") {
		return &problem.Error{Code: "TOKEN-UNKNOWN", What: fmt.Sprintf("%.40q is no id of a token", id), Fix: "`moot token ls` lists them"}
	}
	return k.change(func(r *records) {
		if !r.revoked(id) {
			r.Revoked = append(r.Revoked, r.revocation(id))
		}
	})
}

// change changes the stored tokens, and drops those that have expired.
func (k *Keys) change(f func(*records)) error {
	unlock, err := k.lock()
	if err != nil {
		return err
	}
	defer unlock()
	r, err := k.issued.load()
	if err != nil {
		return err
	}
	r.dropExpired(time.Now())
	f(&r)
	return k.issued.write(r)
}

// AdminToken returns the token of this user's scripts, which is kept in the file
// token of the folder. It is made if the file is missing or if its token is of
// another key. An empty file is an error.
func (k *Keys) AdminToken() (string, error) {
	path := filepath.Join(k.dir, "token")
	unlock, err := k.lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	token, err := readPrivate(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	case err == nil && token == "":
		return "", &problem.Error{Code: "SERVER-TOKEN", What: "the file of the server's token is empty", Where: path, Fix: "remove it; moot writes a new token"}
	case err == nil:
		if _, err := k.Check(token); err == nil {
			return token, nil
		}
	}
	token, _, err = k.Mint(Grant{Name: "scripts of this user", Scope: Admin})
	if err != nil {
		return "", err
	}
	return token, atomicfile.WriteDurable(path, []byte(token+"\n"))
}
