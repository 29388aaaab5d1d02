package page

import (
	"bytes"
	"html"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	render "github.com/yuin/goldmark/renderer/html"
)

// HTML returns the HTML of a text in Markdown of GitHub's dialect. It is for text of
// strangers: only elements of formatted text remain, no images, no scripts, no styles
// and no identifiers; links lead to http, https and mailto only. A single line break
// remains one, as the writer saw it.
func HTML(text string) string {
	var b bytes.Buffer
	if err := markdown().Convert([]byte(text), &b); err != nil { // it only fails to write
		return "<p>" + html.EscapeString(text) + "</p>"
	}
	return sanitizer().Sanitize(b.String())
}

var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(render.WithHardWraps()))
})

var sanitizer = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "strong", "em", "del", "code", "pre", "blockquote", "ul", "li",
		"h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowElements("ol")
	p.AllowAttrs("align").Matching(bluemonday.CellAlign).OnElements("th", "td")
	p.AllowElements("th", "td")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.RequireNoReferrerOnLinks(true)
	p.RequireNoFollowOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
})
