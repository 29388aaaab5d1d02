package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/problem"
)

// A Scope says what a caller may do. Each includes those before it.
type Scope = access.Scope

// Scopes.
const (
	Nobody  Scope = 0 // not known: such a caller may call open routes only
	Read          = access.Read
	Talk          = access.Talk
	Control       = access.Control
	Admin         = access.Admin
)

// A Caller is who sends a request. It comes from the credential, never from the
// body of the request.
type Caller struct {
	Name  string // of the credential, for records
	Scope Scope
	Room  string // the only room that the caller may use; "" is any
	Seat  string // the seat that the caller acts as; "" is none
	Via   string // how the request came: socket, http, page or mcp
}

// An Identify tells who sends a request. An error refuses it; a request without a
// credential comes from the zero Caller.
type Identify func(*http.Request) (Caller, error)

// LocalUser identifies everybody as the user of this machine. It is for a socket
// that only this user can open.
func LocalUser(r *http.Request) (Caller, error) {
	return Caller{Name: "local user", Scope: Admin, Via: "socket"}, access.CheckForm(r)
}

type callerKey struct{}

// CallerOf returns who sent the request with that context.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// check refuses a caller who may not use a route with that need, room and seat. Both
// are "" for routes without.
func (c Caller) check(need Scope, room, seat string) error {
	switch {
	case need == Nobody:
		return nil
	case c.Scope == Nobody:
		return &problem.Error{Code: "API-UNAUTHORIZED", What: "the request has no credential", Fix: "send one: Authorization: Bearer TOKEN; `moot token new` makes a token"}
	case c.Scope < need:
		return &problem.Error{Code: "API-FORBIDDEN", What: fmt.Sprintf("%s may %s, and this needs %s", c.Name, c.Scope, need), Fix: "use a token with that scope: `moot token new --scope " + need.String() + "`"}
	case c.Room != "" && room != "" && c.Room != room, c.Seat != "" && seat != "" && c.Seat != seat:
		return &problem.Error{Code: "API-FORBIDDEN", What: c.Name + " is for another room or seat", Fix: "use a token of this one"}
	}
	return nil
}

// splitPattern splits a pattern of [http.ServeMux] with a method.
func splitPattern(pattern string) (method, path string) {
	method, path, _ = strings.Cut(pattern, " ")
	return method, path
}
