package browser

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/folkmoot/moot/replay/history"
)

// reportSizes are the sizes of windows that a report must fit.
var reportSizes = []struct{ width, height int64 }{{390, 844}, {1280, 900}, {1920, 1080}}

// unfolded opens all parts of a report.
const unfolded = `document.querySelectorAll("details").forEach(d => d.open = true);
	document.querySelectorAll(".case:nth-of-type(n+6), .talk:nth-of-type(n+3)").forEach(e => e.remove())`

// TestReportFits: nothing of a report is cut or needs a horizontal scroll, and
// axe-core finds nothing, at three sizes, in light and in dark, folded and not. Of
// the decisions to read, which are alike, it gets some.
func TestReportFits(t *testing.T) {
	axeSource(t)
	for name, file := range map[string]string{
		"few policies":  reportPage(t, teamTalks(), "address->ngram3", "mention-only"),
		"many policies": reportPage(t, extract(), "address->ngram3", "mention-only", "ABA", "freq", "bigram", "ngram3", "least-recent", "vocative"),
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, file)
			for _, fold := range []string{"0", unfolded} {
				b.run(t, chromedp.Evaluate(fold, nil))
				for _, size := range reportSizes {
					b.size(t, size.width, size.height)
					where := fmt.Sprintf("%s, width %d, folded %t", name, size.width, fold == "0")
					b.fits(t, where)
					for _, scheme := range []string{"light", "dark"} {
						b.colours(t, scheme, false)
						if name == "few policies" && (fold == "0" || size.width < 500 && scheme == "light") {
							b.axe(t, where+", "+scheme)
						}
						if fold == "0" && name == "few policies" {
							b.screenshot(t, fmt.Sprintf("report-%d-%s", size.width, scheme))
						}
					}
				}
			}
		})
	}
}

// fits tests that no element ends outside of the page.
func (b *browser) fits(t *testing.T, where string) {
	t.Helper()
	var out []string
	b.read(t, `(() => {
		const width = document.documentElement.clientWidth;
		const bad = [];
		if (document.documentElement.scrollWidth > width) bad.push("the page is " + document.documentElement.scrollWidth + " wide");
		for (const e of document.querySelectorAll("body *:not(svg *)")) {
			const r = e.getBoundingClientRect();
			if (r.width > 0 && (r.right > width + 1 || r.left < -1)) bad.push(e.outerHTML.slice(0, 120) + " ends at " + Math.round(r.right));
			if (e.tagName === "TABLE" && r.right > e.parentElement.getBoundingClientRect().right + 1) bad.push("a table ends outside of its card: " + e.innerText.slice(0, 60));
			if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== "visible") bad.push(e.outerHTML.slice(0, 120) + " scrolls");
		}
		return bad.slice(0, 5);
	})()`, &out)
	if len(out) > 0 {
		t.Errorf("%s: %s", where, strings.Join(out, "\n"))
	}
}

// TestReportFirstScreen: a window of a laptop shows an answer for each policy, and
// three quoted decisions, without a scroll.
func TestReportFirstScreen(t *testing.T) {
	b := open(t, reportPage(t, teamTalks(), "address->ngram3", "mention-only"))
	b.size(t, 1280, 900)
	var shown []string
	b.read(t, `[...document.querySelectorAll(".answer, blockquote")].filter(e => e.getBoundingClientRect().bottom <= innerHeight).map(e => e.className || e.tagName)`, &shown)
	if n := strings.Join(shown, " "); strings.Count(n, "answer") != 3 || strings.Count(n, "BLOCKQUOTE") != 3 {
		t.Errorf("the first screen has %s", n)
	}
	text := b.value(t, `document.querySelector(".answers").innerText`)
	for _, want := range []string{"agrees ", "better than ", "worse than ", "same choice as recorded", "closest to what happened"} {
		if !strings.Contains(text, want) {
			t.Errorf("the first screen has no %q:\n%s", want, text)
		}
	}
}

// TestReportFilters: a filter shows the decisions of its kind and about its
// participant, and a decision shows what led to it and why.
func TestReportFilters(t *testing.T) {
	b := open(t, reportPage(t, teamTalks(), "address->ngram3", "mention-only"))
	const shown = `[...document.querySelectorAll(".case")].filter(e => e.checkVisibility())`
	var all, some, both int
	b.read(t, shown+`.length`, &all)
	kind := b.value(t, `[...document.querySelectorAll("label")].find(l => l.textContent.includes("mostActive as recorded, mention-only not")).querySelector("input").id`)
	b.run(t, chromedp.Click("#"+kind, chromedp.ByQuery))
	b.read(t, shown+`.length`, &some)
	wrong := b.value(t, shown+`.filter(e => !e.textContent.includes("mostActive: ✓") || e.textContent.includes("mention-only: ✓")).map(e => e.textContent).join()`)
	if some == 0 || some >= all || wrong != "" {
		t.Errorf("%d of %d decisions; of another kind: %q", some, all, wrong)
	}
	b.run(t, chromedp.Click("#s1", chromedp.ByQuery))
	b.read(t, shown+`.length`, &both)
	name := b.value(t, `document.querySelector("label:has(#s1)").firstElementChild.nextSibling.textContent.trim()`)
	wrong = b.value(t, shown+`.filter(e => !e.querySelector("summary").textContent.includes("recorded: `+name+`") && !e.querySelector(".why").textContent.includes("`+name+`")).map(e => e.textContent).join()`)
	if both == 0 || both >= some || wrong != "" {
		t.Errorf("%d of %d decisions about %s; others: %q", both, some, name, wrong)
	}
	var texts int
	b.run(t, chromedp.Evaluate(shown+`[0].querySelector("summary").click()`, nil))
	b.read(t, `[...document.querySelectorAll(".case[open] .before q, .case[open] .why li")].filter(e => e.checkVisibility() && e.innerText.trim() !== "").length`, &texts)
	if texts < 3 {
		t.Errorf("an opened decision shows %d texts", texts)
	}
}

// TestReportQuoteLink: a quoted decision leads to the decision in full.
func TestReportQuoteLink(t *testing.T) {
	b := open(t, reportPage(t, teamTalks(), "mention-only"))
	b.run(t, chromedp.Click("blockquote a", chromedp.ByQuery), chromedp.WaitReady(".case:target", chromedp.ByQuery))
	if place := b.value(t, `document.querySelector("blockquote a").textContent`); !strings.Contains(b.value(t, `document.querySelector(".case:target").textContent`), place) {
		t.Errorf("the link leads to another decision than %s", place)
	}
}

// TestReportPrints: on paper the folded figures are shown, in dark ink, and the
// filters are not.
func TestReportPrints(t *testing.T) {
	b := open(t, reportPage(t, teamTalks(), "mention-only"))
	b.colours(t, "dark", false)
	b.size(t, 794, 1123) // A4 at 96 dots per inch
	b.run(t, emulation.SetEmulatedMedia().WithMedia("print"))
	b.fits(t, "on paper")
	var folded, tables, filters int
	b.read(t, `document.querySelectorAll("details.fold:not(.talk):not([open])").length`, &folded)
	b.read(t, `[...document.querySelectorAll("details.fold:not(.talk):not([open]) table")].filter(e => e.checkVisibility({contentVisibilityAuto: true}) && e.getBoundingClientRect().height > 20).length`, &tables)
	b.read(t, `[...document.querySelectorAll("fieldset")].filter(e => e.checkVisibility()).length`, &filters)
	if folded == 0 || tables < folded-1 || filters > 0 {
		t.Errorf("of %d folded parts %d have a table on paper; %d filters", folded, tables, filters)
	}
	if ink := b.value(t, `getComputedStyle(document.body).color`); ink != "rgb(0, 0, 0)" {
		t.Errorf("the ink is %s", ink)
	}
	var pdf []byte
	b.run(t, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = page.PrintToPDF().WithPrintBackground(true).Do(ctx)
		return err
	}))
	if n := bytes.Count(pdf, []byte("/Type /Page\n")) + bytes.Count(pdf, []byte("/Type /Page ")); n < 1 || n > 30 {
		t.Errorf("%d pages of paper", n)
	}
	if dir := os.Getenv("REPLAY_SHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "report.pdf"), pdf, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReportHostile: texts and names of a transcript that are markup stay texts.
func TestReportHostile(t *testing.T) {
	evil := []string{
		`</q></details></script><script>document.title="run"</script>`, `<img src=x onerror="document.title='run'">`, `"><svg onload=alert(1)>`,
		`</style><style>body{display:none}</style>`, `javascript:alert(1)`, `{{.Style}}`, `<!--`, `]]>`, `&lt;script&gt;`, "\u202eevil",
	}
	b := open(t, reportPage(t, hostileTalks(evil), "mention-only"))
	var scripts, pictures int
	b.run(t, chromedp.Evaluate(unfolded, nil))
	b.read(t, `document.querySelectorAll("script, iframe, object, link, base, form").length`, &scripts)
	b.read(t, `document.querySelectorAll("img, [onerror], [onload], [style]").length`, &pictures)
	if scripts > 0 || pictures > 0 || !strings.HasPrefix(b.value(t, `document.title`), "Replay of ") {
		t.Errorf("%d scripts and %d pictures", scripts, pictures)
	}
	if display := b.value(t, `getComputedStyle(document.body).display`); display != "block" {
		t.Errorf("the style was changed: %s", display)
	}
	text := b.value(t, `document.querySelector(".browse").textContent`)
	for _, want := range evil[:5] {
		if !strings.Contains(text, want) {
			t.Errorf("the text %q is not shown", want)
		}
	}
	links := b.value(t, `[...document.querySelectorAll("a")].map(a => a.getAttribute("href")).filter(h => !h.startsWith("#")).join()`)
	if links != "" {
		t.Errorf("links to %s", links)
	}
}

// teamTalks yields conversations of a team, in which mostActive is often right and a
// name in a text often too.
func teamTalks() iter.Seq2[history.Transcript, error] {
	return func(yield func(history.Transcript, error) bool) {
		names := []string{"Orchestrator", "Statistics_Expert", "Python_Expert", "Computer_terminal_with_a_very_long_name_that_does_not_fit"}
		x := uint32(7)
		for talk := range 40 {
			c := &history.Conversation{ID: fmt.Sprint("team/", talk)}
			for _, name := range names {
				c.Participants = append(c.Participants, history.Participant{ID: name, Kind: history.KindAgent})
			}
			last := 0
			for i := range 9 {
				x = x*1664525 + 1013904223
				next := int(x>>24) % len(names)
				if x>>16&3 > 0 {
					next = 0
				}
				if next == last {
					next = (next + 1) % len(names)
				}
				last = next
				text := fmt.Sprintf("Step %d is done, see https://example.org/%s", i, strings.Repeat("a-long-path/", 12))
				if x>>20&1 > 0 {
					text = fmt.Sprintf("%s, please check the deviation of step %d.", names[int(x>>12)%len(names)], i)
				}
				c.Turns = append(c.Turns, history.Turn{Speaker: names[next], Text: text})
			}
			if !yield(history.Transcript{Name: c.ID, Conversation: c}, nil) {
				return
			}
		}
	}
}

// hostileTalks yields conversations whose names and texts are markup.
func hostileTalks(evil []string) iter.Seq2[history.Transcript, error] {
	return func(yield func(history.Transcript, error) bool) {
		for talk := range 3 {
			c := &history.Conversation{ID: fmt.Sprint(evil[talk], talk)}
			for _, name := range evil {
				c.Participants = append(c.Participants, history.Participant{ID: name, Name: name, Kind: history.KindAgent})
			}
			for i := range 20 {
				c.Turns = append(c.Turns, history.Turn{Speaker: evil[(i*3+i/7)%len(evil)], Text: evil[i%len(evil)]})
			}
			if !yield(history.Transcript{Name: c.ID, Conversation: c}, nil) {
				return
			}
		}
	}
}
