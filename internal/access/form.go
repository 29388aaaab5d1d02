package access

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/folkmoot/moot/problem"
)

// CheckForm refuses a request whose form is ambiguous, or with which a page of
// another site or an intermediary could reach more than it should. It says
// nothing of the caller.
func CheckForm(r *http.Request) error {
	switch {
	case !strings.HasPrefix(r.RequestURI, "/"):
		return badForm("the target of the request is not a path", "send the path only, not a whole URL")
	case r.Host == "":
		return badForm("the request names no host", "send the header Host")
	case len(r.Header["Authorization"]) > 1:
		return badForm("the request has several headers Authorization", "send one")
	case len(r.Header["Origin"]) > 1:
		return badForm("the request has several headers Origin", "send one, or none")
	}
	if err := checkPath(r.URL); err != nil {
		return err
	}
	if err := checkQuery(r.URL.RawQuery); err != nil {
		return err
	}
	return checkMethod(r)
}

// checkPath refuses paths that have several spellings, which an intermediary might
// read differently.
func checkPath(u *url.URL) error {
	escaped := strings.ToLower(u.EscapedPath())
	clean := path.Clean(u.Path)
	if strings.HasSuffix(u.Path, "/") && clean != "/" {
		clean += "/"
	}
	odd := func(c rune) bool { return c < ' ' || c == 0x7f || c == '\\' }
	if clean != u.Path || strings.ContainsFunc(u.Path, odd) || strings.Contains(escaped, "%2f") || strings.Contains(escaped, "%2e") {
		return badForm("the path has another spelling, or characters that a path may not have", "send it without //, dot segments, encoded slashes or dots, and backslashes")
	}
	return nil
}

// inQuery are names of parameters that other programs take credentials by. A query
// ends up in histories, logs and Referer headers.
var inQuery = []string{"token", "access_token", "auth", "authorization", "bearer", "api_key", "apikey", "key", "code", "password", "secret"}

func checkQuery(raw string) error {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return badForm("the query cannot be read", "encode it as application/x-www-form-urlencoded")
	}
	for name, list := range values {
		if slices.Contains(inQuery, strings.ToLower(name)) || slices.ContainsFunc(list, func(v string) bool { return strings.HasPrefix(v, prefix) }) {
			return badForm(fmt.Sprintf("the query has a credential, or a parameter %.20q", name), "send the token in the header Authorization, and make a new one if this one was real")
		}
	}
	return nil
}

// checkMethod refuses methods that no route has, and bodies that are not JSON. A
// form of another site can send other types without asking first.
func checkMethod(r *http.Request) error {
	hasBody := r.ContentLength != 0 || len(r.TransferEncoding) > 0
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		if hasBody {
			return badForm(r.Method+" has a body", "send it without")
		}
		return nil
	case http.MethodDelete:
		if !hasBody {
			return nil
		}
	case http.MethodPost, http.MethodPut, http.MethodPatch:
	default:
		return &problem.Error{Code: "API-METHOD", What: fmt.Sprintf("no route has the method %.10q", r.Method), Fix: "`moot schema openapi` describes the requests"}
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset := strings.ToLower(params["charset"])
	if err != nil || len(r.Header["Content-Type"]) != 1 || kind != "application/json" || charset != "" && charset != "utf-8" || r.Header.Get("Content-Encoding") != "" {
		return &problem.Error{Code: "API-MEDIA", What: "the body is not application/json", Fix: "send JSON, with Content-Type: application/json and without a Content-Encoding"}
	}
	return nil
}

func badForm(what, fix string) error { return &problem.Error{Code: "API-FORM", What: what, Fix: fix} }
