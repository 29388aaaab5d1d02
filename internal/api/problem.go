package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// ProblemType is the media type of a Problem.
const ProblemType = "application/problem+json"

// A Problem is an error as a response body (RFC 9457), with the fields of a
// [problem.Error].
type Problem struct {
	Type   string `json:"type" doc:"about:blank; code tells problems apart"`
	Title  string `json:"title" doc:"The text of the status"`
	Status int    `json:"status" doc:"The HTTP status"`
	Detail string `json:"detail" doc:"What happened, as one sentence"`
	Code   string `json:"code" doc:"Stable name of the problem; moot help CODE explains it"`
	Where  string `json:"where,omitempty" doc:"Where it happened"`
	Fix    string `json:"fix,omitempty" doc:"What to do about it"`

	Errors []Cause `json:"errors,omitempty" doc:"The single errors of a request, or of a room.yaml"`
}

// A Cause is one of several errors in a Problem.
type Cause struct {
	Code  string `json:"code,omitempty"`
	Where string `json:"where,omitempty" doc:"Its place: body.limits.max_turns, query.after, room.yaml:4:3"`
	What  string `json:"what"`
	Fix   string `json:"fix,omitempty"`
}

// A list is an error that consists of several, such as all that is wrong with a
// room.yaml.
type list interface {
	error
	Each() []*problem.Error
}

// ProblemOf describes err. A status of 0 is that of the code.
func ProblemOf(status int, err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	p := &Problem{Type: "about:blank", Code: "failed", Detail: err.Error()}
	var known *problem.Error
	var coded problem.Coded
	var several list
	switch {
	case errors.As(err, &several):
		for _, e := range several.Each() {
			p.Errors = append(p.Errors, Cause{Code: e.Code, Where: e.Where, What: e.What, Fix: e.Fix})
		}
		coded, _ = errors.AsType[problem.Coded](err)
		p.Code = coded.ErrorCode()
	case errors.As(err, &known):
		plain := problem.Error{Code: known.Code, What: known.What, Err: known.Err}
		p.Code, p.Where, p.Fix = known.Code, known.Where, known.Fix
		p.Detail = strings.TrimSuffix(plain.Error(), " ["+known.Code+"]")
	case errors.As(err, &coded):
		p.Code = coded.ErrorCode()
	}
	p.Status = cmp.Or(status, statusOf(p.Code, err))
	p.Title = http.StatusText(p.Status)
	return p
}

// Error implements error.
func (p *Problem) Error() string { return p.Problem().Error() }

// GetStatus returns the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType returns the media type of the body.
func (p *Problem) ContentType(string) string { return ProblemType }

// Problem returns the error that p describes.
func (p *Problem) Problem() *problem.Error {
	return &problem.Error{Code: p.Code, What: p.Detail, Where: p.Where, Fix: p.Fix, Kind: kinds[p.Status]}
}

// kinds are sentinels for errors of a server by their status.
var kinds = map[int]error{http.StatusNotFound: log.ErrNotFound, http.StatusForbidden: room.ErrDenied}

// statuses are those of codes that have no other sign of their status.
var statuses = map[string]int{
	"ROOM-DRAFT": http.StatusConflict, "ROOM-PERMISSION": http.StatusConflict, "ROOM-VALUES": http.StatusUnprocessableEntity, "ROOM-BUSY": http.StatusConflict,
	"ROOM-PAUSED": http.StatusConflict, "ROOM-STARTING": http.StatusConflict, "ROOM-NOBODY": http.StatusConflict,
	"ROOM-TASK": http.StatusConflict, "ROOM-CLAIMED": http.StatusConflict, "ROOM-UNMET": http.StatusConflict, "ROOM-HOPS": http.StatusConflict, "ROOM-ASIDES": http.StatusTooManyRequests,
	"ROOM-CALL-ASKED": http.StatusConflict, "ROOM-CALL-BUDGET": http.StatusConflict, "ROOM-CALL-PATH": http.StatusConflict, "ROOM-CALL-UNKNOWN": http.StatusNotFound, "ROOM-CALL-DENIED": http.StatusForbidden,
	"ROOM-MODE": http.StatusConflict, "ROOM-STANDING": http.StatusConflict, "ROOM-SEATS": http.StatusConflict, "ROOM-ANSWERED": http.StatusConflict,
	"INVITE-ANSWERED": http.StatusConflict, "INVITE-UNKNOWN": http.StatusNotFound, "RELAY-ONLINE": http.StatusConflict, "RELAY-PEER": http.StatusNotFound,
	"SHARE-TWICE":   http.StatusConflict,
	"SEAT-ANSWERED": http.StatusConflict, "SEAT-REQUEST": http.StatusConflict, "SEAT-AWAIT": http.StatusConflict, "SEAT-ELSEWHERE": http.StatusConflict, "ROOM-AWAY": http.StatusConflict, "ROOM-BUDGET": http.StatusConflict,
	"SEAT-SIZE": http.StatusRequestEntityTooLarge, "SEAT-KIND": http.StatusNotFound,
	"API-UNAUTHORIZED": http.StatusUnauthorized, "API-FORBIDDEN": http.StatusForbidden, "API-NOT-FOUND": http.StatusNotFound,
	"API-FORM": http.StatusBadRequest, "API-JSON": http.StatusBadRequest, "API-HOST": http.StatusForbidden, "API-ORIGIN": http.StatusForbidden, "API-TRIES": http.StatusTooManyRequests,
	"API-ACCEPT": http.StatusNotAcceptable, "ROOM-EXISTS": http.StatusConflict, "ROOM-IDLE": http.StatusConflict, "ROOM-UNKNOWN": http.StatusNotFound, "ROOM-IMPORTED": http.StatusForbidden,
	"API-METHOD": http.StatusMethodNotAllowed, "API-MEDIA": http.StatusUnsupportedMediaType, "API-LARGE": http.StatusRequestEntityTooLarge,
	"SESSION-SELF": http.StatusBadRequest, "SESSION-UNKNOWN": http.StatusNotFound, "SESSION-RATE": http.StatusTooManyRequests,
	"SESSION-DEPTH": http.StatusConflict, "SESSION-FOLDER": http.StatusForbidden,
	"REPLAY-LONG": http.StatusServiceUnavailable, "RELAY-SILENT": http.StatusGatewayTimeout,
	"ROOM-MOVED": http.StatusMisdirectedRequest, "NODE-UNREACHABLE": http.StatusServiceUnavailable, "NODE-DEVICE": http.StatusServiceUnavailable,
	"API-LAUNCH": http.StatusUnauthorized, "TOKEN-UNKNOWN": http.StatusNotFound,
}

// statusOf returns the HTTP status of an error.
func statusOf(code string, err error) int {
	switch status, ok := statuses[code]; {
	case ok:
		return status
	case errors.Is(err, log.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, room.ErrDenied):
		return http.StatusForbidden
	case errors.Is(err, room.ErrOver), errors.Is(err, room.ErrTaken), errors.Is(err, room.ErrAnswered), errors.Is(err, log.ErrLocked):
		return http.StatusConflict
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	}
	if m, ok := problem.Lookup(code); ok && m.Exit != 1 {
		return http.StatusUnprocessableEntity // a user's input, not a failure of the server
	}
	return http.StatusInternalServerError
}
