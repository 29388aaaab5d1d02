package server

import (
	"net/http"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot/internal/page"
	"github.com/folkmoot/moot/room"
)

func (s *Server) registerPages() {
	s.page("/{$}", "The page with all rooms", s.homePage)
	s.page("/rooms/{room}", "The page of a room", s.roomPage)
	s.page("/assets/{version}/{name}", "The scripts and styles of the pages", func(w http.ResponseWriter, r *http.Request) {
		if !page.WriteAsset(w, r.PathValue("name")) {
			s.fail(w, notFound("asset", r.URL.Path))
		}
	})
}

// page registers a page for browsers.
func (s *Server) page(path, summary string, handle http.HandlerFunc) {
	s.rawAs(Read, huma.Operation{
		Method: http.MethodGet, Path: path, Summary: summary,
		Responses: map[string]*huma.Response{"200": {Description: "A file for a browser", Content: pageContent}},
	}, handle)
}

func (s *Server) homePage(w http.ResponseWriter, _ *http.Request) {
	s.writePage(w, "home", page.Page{Title: "Rooms"})
}

func (s *Server) roomPage(w http.ResponseWriter, r *http.Request) {
	v, err := s.cfg.Host.View(r.Context(), r.PathValue("room"), room.UserVisible)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	title := v.Name
	if title == "" {
		title = v.Room
	}
	s.writePage(w, "room", page.Page{Title: title, Room: v.Room})
}

func (s *Server) writePage(w http.ResponseWriter, name string, p page.Page) {
	p.Demo, p.Own = s.cfg.Demo, s.cfg.Own
	if err := page.Write(w, http.StatusOK, name, p); err != nil {
		s.cfg.Log.Debug("a page was not delivered", "page", name, "error", err)
	}
}

// refuse answers a request that is not carried out. A person who asks for a page gets one
// that says why, and how to sign in.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := s.problemOf(r.Context(), err)
	if !asksForPage(r) || p.Code == "API-HOST" || p.Status == http.StatusBadRequest {
		s.fail(w, err)
		return
	}
	refused := page.Refusal{Title: "This page cannot be shown", What: sentence(p.Detail), Fix: sentence(p.Fix)}
	linked := p.Code == "API-ORIGIN"
	if linked || p.Status == http.StatusUnauthorized {
		refused.Title, refused.Linked, refused.SignIn = "Sign in", linked, "moot open"
		if id, ok := strings.CutPrefix(r.URL.Path, "/rooms/"); ok && plainID.MatchString(id) {
			refused.SignIn += " " + id
		}
	}
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if err := refused.Write(w, p.Status); err != nil {
		s.cfg.Log.Debug("a page was not delivered", "page", "refused", "error", err)
	}
}

// plainID is an id of a room that is safe in a command that a person copies into a shell.
var plainID = regexp.MustCompile(`^r_[0-9a-z]{1,60}$`)

// asksForPage reports whether a browser asks for a page, to show it to a person.
func asksForPage(r *http.Request) bool {
	mode := r.Header.Get("Sec-Fetch-Mode")
	return r.Method == http.MethodGet && (mode == "" || mode == "navigate") && accepts(r.Header.Get("Accept"), "text/html") &&
		(r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, "/rooms/"))
}

// sentence makes a sentence of a part of a problem.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}

// pageContent describes the files of pages.
var pageContent = map[string]*huma.MediaType{
	"text/html": {Schema: &huma.Schema{Type: huma.TypeString}}, "text/css": {Schema: &huma.Schema{Type: huma.TypeString}},
	"text/javascript": {Schema: &huma.Schema{Type: huma.TypeString}}, "image/svg+xml": {Schema: &huma.Schema{Type: huma.TypeString}},
}
