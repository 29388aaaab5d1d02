package page

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
)

// A Refusal is why a browser gets no page. Its page has everything in itself, because
// the assets need a credential too.
type Refusal struct {
	Title     string
	What, Fix string
	SignIn    string // the command that signs the browser in; "" if that does not help
	Linked    bool   // another site led here, so the browser has not sent its cookie
}

// Write answers a request with the page that says why it is refused.
func (r Refusal) Write(w http.ResponseWriter, status int) error {
	style, script := asset("base.css")+asset("home.css"), asset("linked.js")
	policy := fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
		source(style), source(script))
	return write(w, status, policy, "templates/refused.html", struct {
		Refusal
		Style  template.CSS
		Script template.JS
		Icon   template.URL
	}{r, template.CSS(style), template.JS(script), template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(asset("icon.svg"))))})
}

// source is the expression of a Content-Security-Policy that allows this text only.
func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// asset returns an asset, which is in the program.
func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err)
	}
	return string(b)
}
