package importtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// notNames are words that no identifier may contain, each with the term to
// use instead. They are metaphors, or private words for things that have a
// standard name.
var notNames = map[string]string{
	"desk": "shared profile", "hired": "running agent", "errand": "in-flight request", "aside": "side message",
	"gallery": "spectator server", "stage": "watchable room, foreground run", "exhibit": "publish", "wish": "subscribe request",
	"shelf": "cache", "dear": "expensive", "pace": "quantum", "patience": "quantum",
	"crew": "worker pool", "toil": "work", "reins": "controllers", "hand": "worker",
	"cast": "scenario", "cue": "human turn", "beat": "default latency", "sayings": "messages", "heard": "messages", "habits": "baseline statistics",
	"trial": "replay run", "asker": "evaluator", "gauge": "timing",
	"straighten": "structure the control-flow graph", "weave": "emit", "polish": "peephole pass", "around": "loop", "cold": "unlikely block",
	"door": "listener", "doors": "listeners", "porch": "test fixture", "knock": "pairing attempt", "tick": "heartbeat, Tick of the room",
	"foresee": "predict", "foresaw": "predicted", "learnt": "online weights", "crowd": "overflow bucket",
	"rested": "idle", "blanked": "redacted on load", "inherited": "resumed", "forebears": "ancestors",
	"anew": "again", "beside": "besides, next to", "whoever": "the caller", "somebody": "a person", "mend": "fix",
	"unmade": "instantiation error", "headed": "parse header", "outward": "publish",
	"manager": "a name of the pattern", "helper": "a name of the pattern", "impl": "a name of the pattern",
}

// allowedNames are identifiers that contain such a word in its usual meaning, or as a
// term of the field: the manager of workers, a hand-off.
var allowedNames = regexp.MustCompile(`^(Tick|tick|ticks|decideTick|(Role|Duty)?Manager|.*[Hh]andOff.*)$`)

// A phrase is a pattern of words that prose may not contain.
type phrase struct {
	pattern *regexp.Regexp
	instead string
}

// notPhrases are held in comments, error messages and documentation.
var notPhrases = []phrase{
	{regexp.MustCompile(`(?i)\b(whoever|whomever|whosoever|whatever has|so-manieth|forebears|anew)\b`), "name the caller, the host, the agent; again"},
	{regexp.MustCompile(`(?i)\bbeside\b`), "next to, besides, in parallel with"},
	{regexp.MustCompile(`(?i)\b(mend|mends|mended|mending)\b`), "fix"},
	{regexp.MustCompile(`(?i)\bdear(er|est)?\b`), "expensive"},
	{regexp.MustCompile(`(?i)\bsomebody\b`), "a person, an agent, another process"},
	{regexp.MustCompile(`(?:^|[.;:!] +)(Who|Whoever|Whom|Whose|Nobody|Somebody|Anybody|Everybody)\b`), "begin the sentence with the thing it is about"},
	{regexp.MustCompile(`(?:^|[.;!] +)What [^?]*$`), "begin the sentence with the thing it is about"},
	{regexp.MustCompile(`\b(for|to|by|with) who\b`), "name the caller, the host, the agent"},
	{regexp.MustCompile(`(?i)\bsigns? of life\b`), "heartbeat"},
	{regexp.MustCompile(`(?i)\bof one's own\b`), "its own"},
}

// A finding is one word to replace.
type finding struct {
	pos     token.Position
	text    string
	instead string
}

// wordsOfGo checks a Go file: declared names, comments and string literals.
func wordsOfGo(name string, src []byte) ([]finding, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var out []finding
	for _, id := range declared(f) {
		if allowedNames.MatchString(id.Name) {
			continue
		}
		for _, w := range segments(id.Name) {
			if instead, ok := notNames[w]; ok {
				out = append(out, finding{fset.Position(id.Pos()), id.Name, instead})
			}
		}
	}
	for _, g := range f.Comments {
		out = append(out, phrasesIn(fset.Position(g.Pos()), g.Text())...)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(s, " ") {
				out = append(out, phrasesIn(fset.Position(lit.Pos()), s)...)
			}
		}
		return true
	})
	return out, nil
}

// phrasesIn checks prose. Line breaks count as spaces; an empty line ends a
// sentence.
func phrasesIn(pos token.Position, text string) []finding {
	var out []finding
	for _, para := range strings.Split(text, "\n\n") {
		para = strings.Join(strings.Fields(para), " ")
		for _, p := range notPhrases {
			for _, sentence := range sentences(para) {
				if m := p.pattern.FindString(sentence); m != "" {
					out = append(out, finding{pos, m, p.instead})
				}
			}
		}
	}
	return out
}

var sentenceEnd = regexp.MustCompile(`[.!?] +`)

// sentences splits prose behind full stops.
func sentences(s string) []string {
	var out []string
	for s != "" {
		i := sentenceEnd.FindStringIndex(s)
		if i == nil {
			return append(out, s)
		}
		out = append(out, s[:i[0]+1])
		s = s[i[1]:]
	}
	return out
}

var (
	fence      = regexp.MustCompile("(?s)```.*?```")
	inlineCode = regexp.MustCompile("`[^`]*`")
)

// wordsOfMarkdown checks a page of documentation without its code.
func wordsOfMarkdown(name string, src []byte) []finding {
	text := fence.ReplaceAllStringFunc(string(src), func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	var out []finding
	for i, line := range strings.Split(inlineCode.ReplaceAllString(text, "CODE"), "\n") {
		if strings.HasPrefix(line, "#") {
			continue // questions are good headings
		}
		for _, p := range notPhrases {
			for _, s := range sentences(strings.TrimLeft(line, "-*>|0123456789. ")) {
				if m := p.pattern.FindString(s); m != "" && !strings.HasPrefix(m, "What") {
					out = append(out, finding{token.Position{Filename: name, Line: i + 1}, m, p.instead})
				}
			}
		}
	}
	return out
}

// declared returns the identifiers that a file declares, local ones too.
func declared(f *ast.File) []*ast.Ident {
	var out []*ast.Ident
	add := func(ids ...*ast.Ident) { out = append(out, ids...) }
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Name)
		case *ast.TypeSpec:
			add(n.Name)
		case *ast.ValueSpec:
			add(n.Names...)
		case *ast.Field:
			add(n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, x := range n.Lhs {
					if id, ok := x.(*ast.Ident); ok {
						add(id)
					}
				}
			}
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
					add(id)
				}
			}
		}
		return true
	})
	return out
}

// segments splits an identifier into its lower-case words.
func segments(name string) []string {
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = nil
		}
	}
	rs := []rune(name)
	for i, r := range rs {
		switch {
		case r == '_' || unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(rs[i-1]) || i+1 < len(rs) && unicode.IsLower(rs[i+1])):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return out
}
