package server

import (
	"net/http"

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
		s.fail(w, err)
		return
	}
	title := v.Name
	if title == "" {
		title = v.Room
	}
	s.writePage(w, "room", page.Page{Title: title, Room: v.Room})
}

func (s *Server) writePage(w http.ResponseWriter, name string, p page.Page) {
	p.Demo = s.cfg.Demo
	if err := page.Write(w, http.StatusOK, name, p); err != nil {
		s.cfg.Log.Debug("a page was not delivered", "page", name, "error", err)
	}
}

// pageContent describes the files of pages.
var pageContent = map[string]*huma.MediaType{
	"text/html": {Schema: &huma.Schema{Type: huma.TypeString}}, "text/css": {Schema: &huma.Schema{Type: huma.TypeString}},
	"text/javascript": {Schema: &huma.Schema{Type: huma.TypeString}}, "image/svg+xml": {Schema: &huma.Schema{Type: huma.TypeString}},
}
