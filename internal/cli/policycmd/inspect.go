package policycmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/plugins/wasm"
	"github.com/folkmoot/moot/policies/policy"
)

// newPolicyInspectCmd shows a policy without running it.
func newPolicyInspectCmd(a *commands) *cobra.Command {
	return &cobra.Command{
		Use:   "inspect [POLICY]",
		Short: "Show a policy: what it does, its settings, its digest and what it asks for",
		Long: "inspect shows a policy's manifest and what its module imports and exports. It\n" +
			"runs nothing. POLICY is a name, a policy's folder, a .wasm file or a pack; by\n" +
			"default the folder it is in.",
		Example:           "  moot policy inspect mention\n  moot policy inspect polite-1.0.0.tar.gz -o json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: app.CompletePolicy,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.Catalog().Named(cmd.Context(), append(args, ".")[0])
			if err != nil {
				return err
			}
			i := inspect(s)
			return a.Emit(i, i.print)
		},
	}
}

// An inspection is what can be seen of a policy.
type inspection struct {
	policy.Manifest
	Origin  string  `json:"origin"`
	Where   string  `json:"where,omitempty"`
	Module  anatomy `json:"module"`
	Cases   int     `json:"cases"`
	Refused string  `json:"refused,omitempty"` // why the module cannot be read
}

// An anatomy is what a module is made of.
type anatomy struct {
	Bytes   int      `json:"bytes"`
	Pages   uint32   `json:"pages,omitempty"` // of 64 KiB, that its memory starts with
	Imports []string `json:"imports"`
	Exports []string `json:"exports"`
}

func inspect(s *catalog.Entry) inspection {
	i := inspection{Manifest: s.Manifest, Origin: s.Origin, Where: s.Where, Cases: len(s.Cases)}
	var err error
	if i.Module, err = anatomyOf(s.Wasm); err != nil {
		i.Refused = err.Error()
	}
	return i
}

// anatomyOf reads a module as the sandbox does, without compiling it.
func anatomyOf(module []byte) (anatomy, error) {
	a := anatomy{Bytes: len(module), Imports: []string{}, Exports: []string{}}
	m, err := wasm.Meter(module, wasm.Default, wasm.Budget{})
	if err != nil {
		return a, err
	}
	a.Pages = m.Pages
	for _, im := range m.Imports {
		a.Imports = append(a.Imports, im.Module+"."+im.Name)
	}
	for _, e := range m.Exports {
		a.Exports = append(a.Exports, e.Name)
	}
	return a, nil
}

func (i inspection) print(w io.Writer) error {
	if err := printManifest(w, i); err != nil {
		return err
	}
	if i.Refused != "" {
		_, err := fmt.Fprintf(w, "\nrefused  %s\n", term.Line(i.Refused))
		return err
	}
	return nil
}

func printManifest(w io.Writer, i inspection) error {
	m, bounds := i.Manifest, limitsOf(i.Limits)
	rows := [][]string{
		{"policy", m.Name + " " + m.Version},
		{"does", m.Description},
		{"author", m.Author},
		{"origin", strings.TrimSpace(i.Origin + " " + i.Where)},
		{"module", fmt.Sprintf("%d bytes, %d pages of memory, policy ABI %d", i.Module.Bytes, i.Module.Pages, m.ABI)},
		{"sha256", m.SHA256},
		{"imports", orNone(i.Module.Imports)},
		{"exports", orNone(i.Module.Exports)},
		{"sees", sees(m.Input)},
		{"may use", fmt.Sprintf("%d units of fuel a decision, %d pages of memory", bounds.Fuel, bounds.MemoryPages)},
	}
	if err := app.Table(w, rows[0], rows[1:]); err != nil {
		return err
	}
	for _, part := range []struct {
		name  string
		value any
	}{{"settings", m.ConfigSchema}, {"defaults", m.DefaultConfig}} {
		b, err := json.MarshalIndent(part.value, "", "  ")
		if err != nil {
			return fmt.Errorf("printing the %s: %w", part.name, err)
		}
		fmt.Fprintf(w, "\n%s\n%s\n", part.name, b)
	}
	return nil
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// sees says what a policy's input holds.
func sees(n policy.Needs) string {
	texts := fmt.Sprintf("texts up to %d bytes", cmp.Or(n.MaxTextBytes, policy.DefText))
	if n.NoText() {
		texts = "no texts"
	}
	if n.Bids {
		texts += ", bids of the agents"
	}
	return fmt.Sprintf("%d events at first, then what is new; %s", cmp.Or(n.HistoryEvents, policy.DefHistory), texts)
}
