// Package page is the web page of the rooms: its templates, scripts and styles, which
// are embedded as they are, and the HTML of texts that agents write.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed assets
var assets embed.FS

//go:embed templates
var templates embed.FS

// Version is a digest of the assets. It is part of their addresses, so a browser keeps
// them until they change.
var Version = digest(assets)

func digest(files fs.FS) string {
	h := sha256.New()
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(files, name)
		fmt.Fprintf(h, "%s %d\n%s", name, len(b), b)
		return err
	})
	if err != nil {
		panic(err) // the files are in the program
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Policy is the Content-Security-Policy of pages: only files of this server, and no
// HTML that a script has not declared.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types moot"

// A Page is what a template shows.
type Page struct {
	Title string
	Room  string // id; "" outside a room
	Demo  bool   // the page says that the room is a demonstration
	Own   bool   // the server ends with its room, so it makes no others

	Version string // set by Write
}

// Write answers a request with the page of the template with that name, such as "room".
func Write(w http.ResponseWriter, status int, name string, p Page) error {
	p.Version = Version
	return write(w, status, Policy, "templates/layout.html", p, "templates/"+name+".html")
}

// write answers with the template "layout" of a file, which others complete.
func write(w http.ResponseWriter, status int, policy, layout string, data any, more ...string) error {
	t, err := template.ParseFS(templates, append([]string{layout}, more...)...)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "layout", data); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	w.WriteHeader(status)
	_, err = w.Write(b.Bytes())
	return err
}

// types are the media types of assets. The table of the system could differ.
var types = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// WriteAsset answers a request for the asset with that name, and reports whether there
// is one.
func WriteAsset(w http.ResponseWriter, name string) bool {
	b, err := assets.ReadFile("assets/" + name)
	kind := types[path.Ext(name)]
	if err != nil || kind == "" || strings.Contains(name, "..") {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	_, _ = w.Write(b) // the browser has gone, if not
	return true
}
