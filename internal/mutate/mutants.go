package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// A mutant is one small fault that can be put into a package.
type mutant struct {
	id    int
	fn    string // the function that it is in
	what  string // the fault, such as "x < y becomes x <= y"
	place token.Position
}

// name identifies the mutant in lists. It holds no line number, so that it
// stays the same while other code of the file changes.
func (m mutant) name() string { return m.fn + ": " + m.what }

// An instrumenter rewrites functions so that the compiled package contains
// every mutant, and the variable mutantOn selects at most one of them. Such a
// program is compiled once for all mutants (mutant schemata, Untch 1993).
type instrumenter struct {
	pkg     *types.Package
	info    *types.Info
	fset    *token.FileSet
	src     []byte // of the file
	base    int    // offset of the file's first byte as token.Pos
	fn      string
	imports map[string]bool // paths that the file imports
	found   []mutant
	first   int // id of the first mutant of this file
	seen    map[string]int
}

// add makes a mutant at n and returns the condition under which it is active.
func (in *instrumenter) add(n ast.Node, what string) string {
	what = strings.Join(strings.Fields(what), " ")
	key := in.fn + ": " + what
	in.seen[key]++
	if k := in.seen[key]; k > 1 {
		what += fmt.Sprintf(" (%d)", k)
	}
	id := in.first + len(in.found)
	in.found = append(in.found, mutant{id, in.fn, what, in.fset.Position(n.Pos())})
	return fmt.Sprintf("mutantIs(%d)", id)
}

func (in *instrumenter) text(n ast.Node) string {
	return string(in.src[int(n.Pos())-in.base : int(n.End())-in.base])
}

// typeOf returns the name of an expression's type, or false if the mutants of
// the expression could not be compiled: it is a constant, or the file does not
// import the package of its type.
func (in *instrumenter) typeOf(e ast.Expr) (string, bool) {
	tv, ok := in.info.Types[e]
	if !ok || tv.Value != nil || tv.IsNil() {
		return "", false
	}
	name := types.TypeString(types.Default(tv.Type), func(p *types.Package) string {
		if p == in.pkg {
			return ""
		}
		ok = ok && in.imports[p.Path()]
		return p.Name()
	})
	return name, ok
}

// choice renders an expression that is mutated if cond holds.
func choice(typ, cond, mutated, original string) string {
	return "func() " + typ + " { if " + cond + " { return " + mutated + " }; return " + original + " }()"
}

// rewrite returns the source of n with the mutants in it.
func (in *instrumenter) rewrite(n ast.Node) string {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return in.binary(n)
	case *ast.IfStmt:
		given := in.unchanged(n.Init)
		given[n.Cond] = in.condition(n.Cond)
		return in.spliced(n, given)
	case *ast.ForStmt:
		return in.spliced(n, in.unchanged(n.Init, n.Post))
	case *ast.SwitchStmt:
		return in.spliced(n, in.unchanged(n.Init))
	case *ast.TypeSwitchStmt:
		return in.spliced(n, in.unchanged(n.Init, n.Assign))
	case *ast.CaseClause:
		return in.clause(n)
	case *ast.AssignStmt:
		return in.assignment(n)
	case *ast.IncDecStmt:
		return in.deleted(n)
	case *ast.ExprStmt:
		return in.deleted(n)
	case *ast.KeyValueExpr:
		return in.field(n)
	case *ast.CallExpr:
		return in.call(n)
	case *ast.ReturnStmt:
		return in.returned(n)
	case *ast.GenDecl:
		if n.Tok == token.CONST || n.Tok == token.TYPE {
			return in.text(n)
		}
	}
	return in.spliced(n, nil)
}

// spliced returns the source of n with its children rewritten. given holds
// children that are rewritten already.
func (in *instrumenter) spliced(n ast.Node, given map[ast.Node]string) string {
	var out strings.Builder
	at := n.Pos()
	for _, c := range children(n) {
		out.Write(in.src[int(at)-in.base : int(c.Pos())-in.base])
		if s, ok := given[c]; ok {
			out.WriteString(s)
		} else {
			out.WriteString(in.rewrite(c))
		}
		at = c.End()
	}
	out.Write(in.src[int(at)-in.base : int(n.End())-in.base])
	return out.String()
}

// unchanged returns statements as they are: those in the head of another
// statement, in place of which no if statement can stand.
func (in *instrumenter) unchanged(list ...ast.Stmt) map[ast.Node]string {
	given := map[ast.Node]string{}
	for _, n := range list {
		if n != nil {
			given[n] = in.text(n)
		}
	}
	return given
}

// children returns the direct children of n in the order of the source.
func children(n ast.Node) []ast.Node {
	var out []ast.Node
	ast.Inspect(n, func(c ast.Node) bool {
		if c == nil || c == n {
			return c == n
		}
		if _, ok := c.(*ast.CommentGroup); !ok {
			out = append(out, c)
		}
		return false
	})
	return out
}

// swaps are the operators that take the place of another: the boundary of a
// comparison, the opposite of an equality, and so on.
var swaps = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
}

func (in *instrumenter) binary(n *ast.BinaryExpr) string {
	op, ok := swaps[n.Op]
	typ, named := in.typeOf(n)
	if !ok || !named || typ == "string" {
		return in.spliced(n, nil)
	}
	x, y := in.text(n.X), in.text(n.Y)
	cond := in.add(n, x+" "+n.Op.String()+" "+y+" becomes "+op.String())
	return choice(typ, cond, x+" "+op.String()+" "+y, in.spliced(n, nil))
}

// condition negates a condition that is no comparison.
func (in *instrumenter) condition(e ast.Expr) string {
	if b, ok := e.(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
		return in.rewrite(e)
	}
	cond := in.add(e, "condition "+in.text(e)+" is negated")
	return cond + " != (" + in.rewrite(e) + ")"
}

// clause negates the conditions of a switch without a tag.
func (in *instrumenter) clause(n *ast.CaseClause) string {
	given := map[ast.Node]string{}
	for _, e := range n.List {
		tv, ok := in.info.Types[e]
		basic, isBasic := tv.Type.(*types.Basic)
		if ok && tv.Value == nil && isBasic && basic.Info()&types.IsBoolean != 0 {
			given[e] = in.condition(e)
		} else {
			given[e] = in.text(e)
		}
	}
	return in.spliced(n, given)
}

// assignment leaves out the assignment to one place.
func (in *instrumenter) assignment(n *ast.AssignStmt) string {
	if n.Tok != token.ASSIGN && n.Tok != token.DEFINE {
		return in.deleted(n)
	}
	given := map[ast.Node]string{}
	for _, l := range n.Lhs {
		given[l] = in.text(l)
	}
	if n.Tok == token.ASSIGN && len(n.Lhs) == len(n.Rhs) {
		for i, l := range n.Lhs {
			if typ, ok := in.typeOf(l); ok && in.text(l) != "_" {
				cond := in.add(l, "no "+in.text(l)+" = "+in.text(n.Rhs[i]))
				given[n.Rhs[i]] = choice(typ, cond, in.text(l), in.rewrite(n.Rhs[i]))
			}
		}
	}
	return in.spliced(n, given)
}

// deleted leaves out a statement.
func (in *instrumenter) deleted(n ast.Stmt) string {
	cond := in.add(n, "no "+in.text(n))
	return "if !" + cond + " { " + in.spliced(n, nil) + " }"
}

// field gives a field of a literal its zero value.
func (in *instrumenter) field(n *ast.KeyValueExpr) string {
	given := map[ast.Node]string{n.Key: in.text(n.Key)}
	if typ, ok := in.typeOf(n.Value); ok {
		if _, isKey := n.Key.(*ast.Ident); isKey {
			cond := in.add(n, "no "+in.text(n))
			given[n.Value] = "func() " + typ + " { if " + cond + " { var zero " + typ + "; return zero }; return " + in.rewrite(n.Value) + " }()"
		}
	}
	return in.spliced(n, given)
}

// call swaps min and max, and leaves out the appended values of append.
func (in *instrumenter) call(n *ast.CallExpr) string {
	id, ok := n.Fun.(*ast.Ident)
	typ, named := in.typeOf(n)
	if !ok || !named || len(n.Args) < 2 {
		return in.spliced(n, nil)
	}
	args := func() string { return string(in.src[int(n.Lparen)-in.base : int(n.End())-in.base]) }
	switch id.Name {
	case "min", "max":
		other := map[string]string{"min": "max", "max": "min"}[id.Name]
		if _, hidden := in.pkg.Scope().Innermost(n.Pos()).LookupParent(other, n.Pos()); hidden.Parent() != types.Universe {
			break
		}
		return choice(typ, in.add(n, in.text(n)+" becomes "+other), other+args(), in.spliced(n, nil))
	case "append":
		return choice(typ, in.add(n, "no "+in.text(n)), in.text(n.Args[0]), in.spliced(n, nil))
	}
	return in.spliced(n, nil)
}

// returned inverts a constant boolean that is returned.
func (in *instrumenter) returned(n *ast.ReturnStmt) string {
	given := map[ast.Node]string{}
	for _, e := range n.Results {
		if id, ok := e.(*ast.Ident); ok && (id.Name == "true" || id.Name == "false") {
			given[e] = in.add(n, "returns not "+id.Name) + " != " + id.Name
		}
	}
	return in.spliced(n, given)
}
