package server

import (
	"io"
	"iter"
	"mime"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/transcripts"
)

// An exportForm is a form of transcripts.
type exportForm struct {
	name, media, ext string
	write            func(io.Writer, iter.Seq2[log.Entry, error], transcripts.Level) error
}

// exportForms has all forms. The first, which is the default, is written with a header.
var exportForms = []exportForm{
	{"jsonl", "application/x-ndjson", ".jsonl", nil},
	{"md", "text/markdown; charset=utf-8", ".md", transcripts.WriteMarkdown},
	{"html", "text/html; charset=utf-8", ".html", transcripts.WriteHTML},
	{"csv", "text/csv; charset=utf-8", ".csv", transcripts.WriteCSV},
	{"openai", "application/json", ".json", transcripts.WriteChat},
	{"otel", "application/json", ".json", transcripts.WriteSpans},
	{"neutral", "application/x-ndjson", ".jsonl", transcripts.WriteNeutral},
}

func (s *Server) registerExport() {
	var names []any
	content := map[string]*huma.MediaType{}
	for _, f := range exportForms {
		names = append(names, f.name)
		content[f.media] = &huma.MediaType{}
	}
	s.rawAs(Read, huma.Operation{
		OperationID: "export", Method: http.MethodGet, Path: "/api/rooms/{room}/export", Summary: "Download the transcript of a room",
		Parameters: []*huma.Param{
			{Name: "room", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}},
			{Name: "form", In: "query", Description: "The form; jsonl is the portable one", Schema: &huma.Schema{Type: huma.TypeString, Enum: names, Default: "jsonl"}},
			{Name: "level", In: "query", Description: "The level of the reader; the default is user_visible. The level all is the stored log with its secrets and its chain, and needs the scope admin", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{transcripts.UserVisible, transcripts.UserRedacted, transcripts.Internal, transcripts.All}}},
		},
		Responses: map[string]*huma.Response{"200": {Description: "The transcript", Content: content}},
	}, s.export)
}

// export writes the transcript of a room as far as it is stored now.
func (s *Server) export(w http.ResponseWriter, r *http.Request) {
	form, level := exportForms[0], transcripts.UserVisible
	for name, values := range r.URL.Query() {
		i := slices.IndexFunc(exportForms, func(f exportForm) bool { return f.name == values[0] })
		switch {
		case len(values) != 1:
			s.fail(w, badQuery(name, "it is given twice"))
			return
		case name == "form" && i >= 0:
			form = exportForms[i]
		case name == "level" && transcripts.Level(values[0]).Valid():
			level = transcripts.Level(values[0])
		default:
			s.fail(w, badQuery(name, "there is no such parameter or value"))
			return
		}
	}
	if err := CallerOf(r.Context()).mayExport(level); err != nil {
		s.fail(w, err)
		return
	}
	id := r.PathValue("room")
	v, err := s.cfg.Host.View(r.Context(), id, room.UserVisible)
	if err != nil {
		s.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", form.media)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": id + form.ext}))
	out := &deadlineWriter{w: w, conn: http.NewResponseController(w)}
	header := transcripts.Header{Room: id, Level: level, Events: v.Seq, Chain: level == transcripts.All}
	entries := s.entries(r.Context(), id, 0, v.Seq)
	if own := CallerOf(r.Context()).level(); own != room.Internal {
		entries, header.Events = visibleEntries(entries, own), 0 // some are left out
	}
	if form.write != nil {
		err = form.write(out, entries, level)
	} else {
		err = transcripts.Write(out, header, entries)
	}
	switch {
	case err == nil:
	case out.begun:
		s.cfg.Log.Error("an export was cut off", "room", id, "error", err)
		panic(http.ErrAbortHandler) // the reader sees that the end is missing
	default:
		w.Header().Del("Content-Disposition")
		s.fail(w, err)
	}
}

// mayExport refuses a level that c does not see.
func (c Caller) mayExport(level transcripts.Level) error {
	if level != transcripts.All {
		_, err := c.atMost(room.Visibility(level))
		return err
	}
	if err := c.check(Admin, "", ""); err != nil {
		return api.ProblemOf(0, &problem.Error{Code: "API-FORBIDDEN", What: c.Name + " does not see the stored log", Where: "query.level", Fix: "use a token with the scope admin, or the level internal"})
	}
	return nil
}

// A deadlineWriter writes a response. A reader that takes nothing is dropped.
type deadlineWriter struct {
	w     http.ResponseWriter
	conn  *http.ResponseController
	begun bool
}

func (d *deadlineWriter) Write(b []byte) (n int, err error) {
	d.begun = true
	for part := range slices.Chunk(b, 64<<10) {
		_ = d.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // not all connections have deadlines
		written, err := d.w.Write(part)
		if n += written; err != nil {
			return n, err
		}
	}
	return n, nil
}
