package policycmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/policies/policytest"
	"github.com/folkmoot/moot/problem"
)

// decideFlags are those of `moot policy run`.
type decideFlags struct {
	policy, settings string
	failed           bool
}

// newPolicyRunCmd makes single decisions.
func newPolicyRunCmd(a *commands) *cobra.Command {
	var f decideFlags
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Make one decision and show it with all that the policy logged",
		Long: "run asks a policy once and shows what it answers, what it logged and what that\n" +
			"took. FILE is an input in JSON, byte for byte what the policy gets, such as the\n" +
			"ones that moot saves when a decision fails; or a case in YAML, of which every\n" +
			"step is run. With --failed it runs all inputs of this policy that were saved.\n" +
			"A decision that fails ends it with 7.",
		Example: "  moot policy run input.json\n  moot policy run --policy mention cases/signs.yaml\n" +
			"  moot policy run --policy sha256:5f1c... --settings '{\"lookback\":2}' failed/mention-03ab.json\n  moot policy run --failed",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.failed == (len(args) == 1) {
				return app.Usagef(cmd, "policy run takes a file, or --failed")
			}
			return a.runPolicy(cmd.Context(), args, f)
		},
	}
	cmd.Flags().StringVar(&f.policy, "policy", ".", "a name, a policy's folder, a .wasm file, a pack, or sha256: and the digest of one that ran here")
	cmd.Flags().StringVar(&f.settings, "settings", "", "settings in JSON, or @FILE; a case has its own")
	cmd.Flags().BoolVar(&f.failed, "failed", false, "run the inputs that were saved when decisions of this policy failed")
	app.CompletePolicyFlag(cmd)
	a.FuelFlag(cmd)
	return cmd
}

// An outcome is one decision that was made.
type outcome struct {
	Input    string          `json:"input"` // file, and step
	Policy   string          `json:"policy"`
	SHA256   string          `json:"sha256"`
	Engine   string          `json:"engine"`
	Decision json.RawMessage `json:"decision,omitempty"`
	Code     string          `json:"code,omitempty"`
	Error    string          `json:"error,omitempty"`
	Fuel     uint64          `json:"fuel"`
	Memory   int             `json:"memory_bytes"`
	Log      string          `json:"log,omitempty"`
	err      error
}

func (a *commands) runPolicy(ctx context.Context, args []string, f decideFlags) error {
	settings, err := settingsArg(f.settings)
	if err != nil {
		return err
	}
	s, err := a.Catalog().Named(ctx, f.policy)
	if err != nil {
		return err
	}
	files := args
	if f.failed {
		if files, err = a.savedInputs(s); err != nil {
			return err
		}
	}
	h, err := a.Wiring().Sandbox(plugins.Config{})
	if err != nil {
		return err
	}
	defer h.Close()
	var all []outcome
	for _, file := range files {
		out, err := a.runFile(ctx, h, s, file, settings)
		if err != nil {
			return err
		}
		all = append(all, out...)
	}
	return a.showOutcomes(all)
}

// settingsArg reads settings from an argument.
func settingsArg(arg string) (policy.JSON, error) {
	if arg == "" {
		return nil, nil
	}
	text := []byte(arg)
	if file, ok := strings.CutPrefix(arg, "@"); ok {
		var err error
		if text, err = os.ReadFile(file); err != nil {
			return nil, &problem.Error{Code: "ROOM-SETTINGS", What: "the settings cannot be read", Where: file, Err: err, Fix: "name a file with JSON in it"}
		}
	}
	if !json.Valid(text) {
		return nil, &problem.Error{Code: "ROOM-SETTINGS", What: "the settings are not JSON", Where: "--settings", Fix: `write them as {"lookback":2}`}
	}
	return policy.JSON(bytes.TrimSpace(text)), nil
}

// savedInputs lists the inputs of failed decisions of a policy.
func (a *commands) savedInputs(s *catalog.Entry) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(a.Wiring().FailDir(), s.Manifest.Name+"-????????????????.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		a.Note("no input of %s was saved in %s", s.Manifest.Name, a.Wiring().FailDir())
	}
	return files, nil
}

// maxInputFile bounds what is read as an input or a case.
const maxInputFile = 16 << 20

func (a *commands) runFile(ctx context.Context, h *plugins.Host, s *catalog.Entry, file string, settings policy.JSON) ([]outcome, error) {
	unread := &problem.Error{Code: "POL-CASES", What: "the input cannot be read", Where: file, Fix: "name a file with an input in JSON or a case in YAML"}
	if st, err := os.Stat(file); err == nil && st.Size() > maxInputFile {
		unread.What = fmt.Sprintf("the file has %d bytes; at most %d", st.Size(), maxInputFile)
		return nil, unread
	}
	text, err := os.ReadFile(file)
	if err != nil {
		unread.Err = err
		return nil, unread
	}
	if !strings.HasSuffix(file, ".yaml") {
		p, err := h.Load(ctx, s.Repeatable(settings, a.AllowFuel))
		if err != nil {
			return nil, err
		}
		defer p.Close()
		return []outcome{decideOne(ctx, h, s, p, file, bytes.TrimSuffix(text, []byte("\n")))}, nil
	}
	c, err := policytest.Parse(file, text)
	if err != nil {
		unread.What, unread.Err = "the case cannot be read", err
		return nil, unread
	}
	p, err := h.Load(ctx, s.Repeatable(c.Settings, a.AllowFuel))
	if err != nil {
		return nil, err
	}
	defer p.Close()
	var all []outcome
	c.Run(func(input []byte) ([]byte, error) {
		all = append(all, decideOne(ctx, h, s, p, fmt.Sprintf("%s, step %d", file, len(all)+1), input))
		last := all[len(all)-1]
		return last.Decision, last.err
	})
	return all, nil
}

func decideOne(ctx context.Context, h *plugins.Host, s *catalog.Entry, p *plugins.Policy, name string, input []byte) outcome {
	_, r, err := p.Decide(ctx, input)
	o := outcome{
		Input: name, Policy: s.Manifest.Name, SHA256: s.Manifest.SHA256, Engine: h.Engine(),
		Fuel: r.Fuel, Memory: r.Memory, Log: r.Log, err: err,
	}
	if json.Valid(r.Output) {
		o.Decision = r.Output
	}
	if err != nil {
		report := app.ReportOf(err)
		o.Code, o.Error = report.Code, report.What
	}
	return o
}

// showOutcomes shows decisions. The error is that of the first that failed.
func (a *commands) showOutcomes(all []outcome) error {
	var failed error
	for _, o := range all {
		if o.err != nil && failed == nil {
			failed = o.err
		}
	}
	var v any = all
	if len(all) == 1 {
		v = all[0]
	}
	err := a.Emit(v, func(w io.Writer) error {
		for _, o := range all {
			if err := o.print(w); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return failed
}

func (o outcome) print(w io.Writer) error {
	answer := string(o.Decision)
	if o.Code != "" {
		answer = strings.TrimSpace(answer + " " + o.Error + " [" + o.Code + "]")
	}
	fmt.Fprintf(w, "%s\n  %s\n  %d units of fuel, %d KiB of memory, %s\n", term.Line(o.Input), term.Line(answer), o.Fuel, o.Memory>>10, o.Engine)
	for line := range strings.Lines(o.Log) {
		fmt.Fprintf(w, "  log  %s\n", term.Line(strings.TrimSuffix(line, "\n")))
	}
	return nil
}

// inputOf returns the first input of a policy's cases, nil when it has none.
func inputOf(cases []pack.File) (input []byte, settings policy.JSON) {
	for _, f := range cases {
		c, err := policytest.Parse(f.Name, f.Text)
		if err != nil {
			continue
		}
		c.Run(func(in []byte) ([]byte, error) {
			if input == nil {
				input, settings = in, c.Settings
			}
			return []byte(`{"action":"decline","reason":"not asked"}`), nil
		})
		return input, settings
	}
	return nil, nil
}
