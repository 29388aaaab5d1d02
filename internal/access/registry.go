package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/problem"
)

// An Issued is a token that was issued by name.
type Issued struct {
	Grant
	Created time.Time `json:"created"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// records is the content of tokens.json.
type records struct {
	Issued  []Issued     `json:"issued,omitempty"`
	Revoked []revocation `json:"revoked,omitempty"`
}

// A revocation is kept until its token has expired.
type revocation struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Expires time.Time `json:"expires,omitzero"` // of the token, if it is known
}

func (r records) revoked(id string) bool {
	return slices.ContainsFunc(r.Revoked, func(x revocation) bool { return x.ID == id })
}

// revocation marks the issued token with that id as revoked.
func (r *records) revocation(id string) revocation {
	x := revocation{ID: id, At: time.Now().UTC().Truncate(time.Second)}
	for i, t := range r.Issued {
		if t.ID == id {
			r.Issued[i].Revoked, x.Expires = x.At, t.Expires
		}
	}
	return x
}

func (r *records) dropExpired(now time.Time) {
	r.Issued = slices.DeleteFunc(r.Issued, func(t Issued) bool { return t.expired(now) })
	r.Revoked = slices.DeleteFunc(r.Revoked, func(x revocation) bool { return !x.Expires.IsZero() && now.After(x.Expires) })
}

// maxRecords is the largest size of tokens.json.
const maxRecords = 4 << 20

// A registry caches tokens.json and reads it again when it has changed, as
// another process may revoke a token.
type registry struct {
	path string

	mu   sync.Mutex
	info os.FileInfo // of the file that was read; nil before
	have records
}

// read returns the stored tokens, which the caller must not change.
func (g *registry) read() (records, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	info, err := os.Stat(g.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		g.info, g.have = nil, records{}
		return g.have, nil
	case err != nil:
		return records{}, err
	case g.info != nil && os.SameFile(g.info, info) && g.info.ModTime().Equal(info.ModTime()) && g.info.Size() == info.Size():
		return g.have, nil
	}
	have, err := g.load()
	if err != nil {
		return records{}, err
	}
	g.info, g.have = info, have
	return have, nil
}

// load reads the file.
func (g *registry) load() (r records, err error) {
	b, err := os.ReadFile(g.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil
	case err != nil:
		return r, err
	case len(b) > maxRecords:
		err = fmt.Errorf("over %d bytes", maxRecords)
	default:
		err = strict.Decode(b, 4, &r)
	}
	if err != nil {
		return records{}, &problem.Error{Code: "SERVER-KEY", What: "the list of tokens cannot be used, so no token is valid", Where: g.path, Fix: "restore it from a backup; or remove it and the file key next to it, which ends all tokens", Err: err}
	}
	return r, nil
}

func (g *registry) write(r records) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteDurable(g.path, append(b, '\n'))
}
