package page

import (
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// TestHTML checks what remains of Markdown.
func TestHTML(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"one\ntwo", "<p>one<br>\ntwo</p>"},
		{"**a** _b_ ~~c~~ `d`", "<p><strong>a</strong> <em>b</em> <del>c</del> <code>d</code></p>"},
		{"# Title", "<h1>Title</h1>"},
		{"- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"},
		{"3. a", "<ol start=\"3\">\n<li>a</li>\n</ol>"},
		{"```go\nx := 1 < 2\n```", "<pre><code>x := 1 &lt; 2\n</code></pre>"},
		{"|a|b|\n|-|:-:|\n|1|2|", "<table>\n<thead>\n<tr>\n<th>a</th>\n<th align=\"center\">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td align=\"center\">2</td>\n</tr>\n</tbody>\n</table>"},
		{"[a](https://x.example)", `<p><a href="https://x.example" rel="nofollow noreferrer noopener" target="_blank">a</a></p>`},
		{"https://x.example", `<p><a href="https://x.example" rel="nofollow noreferrer noopener" target="_blank">https://x.example</a></p>`},
		{"[a](javascript:alert(1))", "<p>a</p>"},
		{"![a](https://x.example/a.png)", `<p><a href="https://x.example/a.png" rel="nofollow noreferrer noopener" target="_blank">a</a></p>`},
		{"[![a](b.png)](https://x.example)", `<p><a href="https://x.example" rel="nofollow noreferrer noopener" target="_blank">a</a></p>`},
		{"- [x] done", "<ul>\n<li>[x] done</li>\n</ul>"},
		{"a `vector<int>` and vector<int>", "<p>a <code>vector&lt;int&gt;</code> and vector&lt;int&gt;</p>"},
		{"a < b && c > d", "<p>a &lt; b &amp;&amp; c &gt; d</p>"},
		{"x<script>alert(1)</script>", "<p>x&lt;script&gt;alert(1)&lt;/script&gt;</p>"},
	} {
		if got := strings.TrimSpace(HTML(c.text)); got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}

// TestHTMLOfAttacks puts the texts of testdata/xss.json, which test/browser shows in a
// browser, through HTML: alone, within Markdown, and all at once.
func TestHTMLOfAttacks(t *testing.T) {
	payloads := attacks(t)
	if len(payloads) < 200 {
		t.Errorf("only %d texts", len(payloads))
	}
	for _, p := range payloads {
		for _, text := range []string{p, "**" + p + "**", "> " + p, "- " + p, "| " + p + " |\n|---|\n| " + p + " |", "[" + p + "](" + p + ")", "`" + p, p + p} {
			checkHarmless(t, text)
		}
	}
	checkHarmless(t, strings.Join(payloads, "\n"))
	checkHarmless(t, strings.Join(payloads, "\n\n"))
}

func attacks(t testing.TB) (payloads []string) {
	t.Helper()
	b, err := os.ReadFile("testdata/xss.json")
	if err == nil {
		err = json.Unmarshal(b, &payloads)
	}
	if err != nil {
		t.Fatal(err)
	}
	return payloads
}

// FuzzHTML: whatever an agent writes, only formatted text remains.
func FuzzHTML(f *testing.F) {
	for _, p := range attacks(f) {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) <= 1<<14 {
			checkHarmless(t, text)
		}
	})
}

// formatted has the elements of formatted text and their attributes.
var formatted = map[string][]string{
	"p": nil, "br": nil, "hr": nil, "strong": nil, "em": nil, "del": nil, "code": nil, "pre": nil, "blockquote": nil, "ul": nil, "li": nil,
	"h1": nil, "h2": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "table": nil, "thead": nil, "tbody": nil, "tr": nil,
	"ol": {"start"}, "th": {"align"}, "td": {"align"}, "a": {"href", "rel", "target"},
}

// checkHarmless reads the HTML of a text as a browser does: all elements, attributes
// and links must be those of formatted text.
func checkHarmless(t *testing.T, text string) {
	t.Helper()
	out := HTML(text)
	if utf8.ValidString(text) && !utf8.ValidString(out) {
		t.Errorf("%q: not UTF-8: %q", text, out)
	}
	if again := sanitizer().Sanitize(out); again != out {
		t.Errorf("%q: %s\nagain: %s", text, out, again)
	}
	nodes, err := html.ParseFragment(strings.NewReader(out), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	for _, n := range nodes {
		for node := range n.Descendants() {
			checkNode(t, text, node)
		}
		checkNode(t, text, n)
	}
}

func checkNode(t *testing.T, text string, n *html.Node) {
	t.Helper()
	if n.Type == html.TextNode {
		return
	}
	allowed, ok := formatted[n.Data]
	if n.Type != html.ElementNode || !ok {
		t.Errorf("%q: %v %q", text, n.Type, n.Data)
	}
	for _, a := range n.Attr {
		if !slices.Contains(allowed, a.Key) {
			t.Errorf("%q: %s %s=%q", text, n.Data, a.Key, a.Val)
		}
		u, err := url.Parse(a.Val)
		if a.Key == "href" && (err != nil || !slices.Contains([]string{"", "http", "https", "mailto"}, u.Scheme)) {
			t.Errorf("%q: a link to %q", text, a.Val)
		}
	}
}
