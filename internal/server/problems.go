package server

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/problem"
)

// useProblems makes huma answer with problems of our form. It is a setting of the
// whole library.
var useProblems = sync.OnceFunc(func() {
	huma.NewError = func(status int, what string, errs ...error) huma.StatusError {
		joined := errors.Join(errs...)
		if p, ok := errors.AsType[*api.Problem](joined); ok {
			return p
		}
		return refusal(status, what, errs)
	}
})

// refusal describes why huma refuses a request: what is wrong with its parts, without
// their values, which may be secrets.
func refusal(status int, what string, errs []error) *api.Problem {
	p := api.ProblemOf(status, &problem.Error{Code: "API-REQUEST", What: what, Fix: "`moot schema openapi` describes the requests"})
	switch status {
	case http.StatusUnsupportedMediaType:
		p.Code = "API-MEDIA"
	case http.StatusRequestEntityTooLarge:
		p.Code = "API-LARGE"
	}
	for _, err := range errs {
		if d, ok := err.(huma.ErrorDetailer); ok {
			p.Errors = append(p.Errors, api.Cause{Where: d.ErrorDetail().Location, What: d.ErrorDetail().Message})
		} else if err != nil {
			p.Errors = append(p.Errors, api.Cause{What: err.Error()})
		}
	}
	if len(p.Errors) > 0 && p.Code == "API-REQUEST" {
		p.Detail = strings.TrimPrefix(p.Errors[0].Where+": ", ": ") + p.Errors[0].What
	}
	return p
}

// negotiate refuses a request that does not accept JSON, before it has an effect.
func (s *Server) negotiate(ctx huma.Context, next func(huma.Context)) {
	if header := ctx.Header("Accept"); header != "" && !accepts(header, "application/json", "application/*", "*/*") {
		_, w := humago.Unwrap(ctx)
		s.fail(w, notAcceptable("application/json"))
		return
	}
	next(ctx)
}

func notAcceptable(types string) error {
	return &problem.Error{Code: "API-ACCEPT", What: "the request accepts no form of the answer", Where: "header.Accept", Fix: "accept " + types}
}

// accepts reports whether the header Accept names one of types.
func accepts(header string, types ...string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, params, err := mime.ParseMediaType(part)
		q, ok := params["q"]
		refused := ok && strings.Trim(q, "0.") == ""
		if err == nil && !refused && slices.Contains(types, name) {
			return true
		}
	}
	return false
}

// problemOf describes an error of a handler. A failure of the server is logged.
func (s *Server) problemOf(ctx context.Context, err error) *api.Problem {
	p := api.ProblemOf(0, err)
	if p.Status >= http.StatusInternalServerError && ctx.Err() == nil {
		s.cfg.Log.Error("a request failed", "code", p.Code, "error", err)
	}
	return p
}

// missing answers requests for which there is no route.
func (s *Server) missing(w http.ResponseWriter, r *http.Request, mux http.Handler) {
	var answer statusOnly
	mux.ServeHTTP(&answer, r)
	if allow := answer.header.Get("Allow"); allow != "" {
		w.Header().Set("Allow", allow)
		s.fail(w, &problem.Error{Code: "API-METHOD", What: fmt.Sprintf("%s has no method %s, but %s", r.URL.Path, r.Method, allow), Fix: "`moot schema openapi` describes the requests"})
		return
	}
	s.fail(w, &problem.Error{Code: "API-NOT-FOUND", What: "the server has no " + r.URL.Path, Fix: "`moot schema openapi` lists the routes"})
}

// A statusOnly keeps of a response what [http.ServeMux] says of a request that no
// route is for.
type statusOnly struct{ header http.Header }

func (s *statusOnly) Header() http.Header {
	if s.header == nil {
		s.header = http.Header{}
	}
	return s.header
}

func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }

func (s *statusOnly) WriteHeader(int) {}
