package policycmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
)

// benchFlags are those of `moot policy bench`.
type benchFlags struct {
	policy, input, settings string
	most                    []string
	lasts                   time.Duration
}

// newPolicyBenchCmd measures decisions.
func newPolicyBenchCmd(a *commands) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench [POLICY]",
		Short: "Measure decisions: time, fuel, memory",
		Long: "bench asks a policy the same again and again, each time in a fresh instance, and\n" +
			"shows how long it takes, what it uses and how much memory it comes to. It asks\n" +
			"with --input, else with the first step of the policy's cases, else with a room\n" +
			"of four agents and 1 KiB. With --max it ends with 6 when a figure is larger:\n" +
			"p50, p90, p99 and max in time, fuel in units, memory in bytes.",
		Example: "  moot policy bench\n  moot policy bench mention -o json\n  moot policy bench ./polite --max p99=2ms --max fuel=200000",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: app.CompletePolicy,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				f.policy = args[0]
			}
			bounds, err := parseBounds(cmd, f.most)
			if err != nil {
				return err
			}
			return a.benchPolicy(cmd.Context(), f, bounds)
		},
	}
	cmd.Flags().StringVar(&f.policy, "policy", ".", "the same as POLICY")
	cmd.Flags().StringVar(&f.input, "input", "", "an input in JSON")
	cmd.Flags().StringVar(&f.settings, "settings", "", "settings in JSON, or @FILE")
	cmd.Flags().StringArrayVar(&f.most, "max", nil, "end with 6 when FIGURE is over the bound: p99=2ms; may be given often")
	cmd.Flags().DurationVar(&f.lasts, "time", time.Second, "how long to measure")
	app.CompletePolicyFlag(cmd)
	a.FuelFlag(cmd)
	return cmd
}

// A benched is what was measured. Times are of the clock, in nanoseconds.
type benched struct {
	Policy    string  `json:"policy"`
	SHA256    string  `json:"sha256"`
	Engine    string  `json:"engine"`
	Input     int     `json:"input_bytes"`
	Decisions int     `json:"decisions"`
	Load      float64 `json:"load_ms"`
	First     int64   `json:"first_ns"` // the first decision, which makes an instance
	P50       int64   `json:"p50_ns"`
	P90       int64   `json:"p90_ns"`
	P99       int64   `json:"p99_ns"`
	Max       int64   `json:"max_ns"`
	Fuel      uint64  `json:"fuel"`
	Memory    int     `json:"memory_bytes"` // high-water mark
}

func (a *commands) benchPolicy(ctx context.Context, f benchFlags, bounds []bound) error {
	s, err := a.Catalog().Named(ctx, f.policy)
	if err != nil {
		return err
	}
	input, settings, err := benchInput(s, f)
	if err != nil {
		return err
	}
	h, err := a.Wiring().Sandbox(plugins.Config{AuditEvery: -1})
	if err != nil {
		return err
	}
	defer h.Close()
	b := &benched{Policy: s.Manifest.Name, SHA256: s.Manifest.SHA256, Engine: h.Engine(), Input: len(input)}
	start := time.Now()
	p, err := h.Load(ctx, s.Module(settings, a.AllowFuel))
	if err != nil {
		return err
	}
	b.Load = float64(time.Since(start).Microseconds()) / 1000
	if err := b.measure(ctx, a, p, input, f.lasts); err != nil {
		return err
	}
	if err := a.Emit(b, b.print); err != nil {
		return err
	}
	return b.judge(bounds)
}

// benchInput chooses what to ask.
func benchInput(s *catalog.Entry, f benchFlags) ([]byte, policy.JSON, error) {
	settings, err := settingsArg(f.settings)
	if err != nil {
		return nil, nil, err
	}
	if f.input != "" {
		input, err := os.ReadFile(f.input)
		if err != nil {
			return nil, nil, &problem.Error{Code: "POL-CASES", What: "the input cannot be read", Where: f.input, Err: err, Fix: "name a file with an input in JSON"}
		}
		return input, settings, nil
	}
	if input, own := inputOf(s.Cases); input != nil {
		if settings == nil {
			settings = own
		}
		return input, settings, nil
	}
	return ordinaryInput(), settings, nil
}

// ordinaryInput is a room of four agents, in about 1 KiB.
func ordinaryInput() []byte {
	in := policy.Input{
		ABI: policy.ABI, Room: "bench", Decision: 2, Turn: 2, NowMS: 1000, Seed: "0f", Objective: "decide",
		Limits: policy.Limits{MaxTurns: 40, TurnsLeft: 39, TokensLeft: -1, MSLeft: 1_000_000},
		Events: []policy.Event{{Seq: 9, Turn: 1, From: "sec", Kind: policy.KindMessage, Text: "dba: which locks does it take?", Addressed: []string{"dba"}, Mentions: []string{"dba"}, Bytes: 30}},
	}
	for i, id := range []string{"sec", "dba", "ops", "qa"} {
		in.Agents = append(in.Agents, policy.Agent{ID: id, Name: id, Kind: policy.Local, Domains: []string{"domain-" + id}, Eligible: id != "sec", LastTurn: max(0, 1-i)})
		if id == "sec" {
			in.Agents[i].Ineligible = "cooldown"
		}
	}
	return in.AppendJSON(nil)
}

// warmUp is how many decisions are not counted.
const warmUp = 20

func (b *benched) measure(ctx context.Context, a *commands, p *plugins.Policy, input []byte, lasts time.Duration) error {
	progress := a.Progress("decisions")
	defer progress.End()
	var times []time.Duration
	for begin := time.Now(); len(times) <= warmUp || time.Since(begin) < lasts; {
		start := time.Now()
		r, err := p.Run(ctx, input)
		took := time.Since(start)
		if err != nil {
			return err
		}
		times = append(times, took)
		b.Fuel, b.Memory = r.Fuel, max(b.Memory, r.Memory)
		progress.Add(1)
	}
	b.First = times[0].Nanoseconds()
	times = times[warmUp:]
	slices.Sort(times)
	b.Decisions = len(times)
	at := func(share float64) int64 { return times[int(share*float64(len(times)-1))].Nanoseconds() }
	b.P50, b.P90, b.P99, b.Max = at(0.5), at(0.9), at(0.99), at(1)
	return nil
}

func (b *benched) print(w io.Writer) error {
	us := func(ns int64) string { return fmt.Sprintf("%.1f us", float64(ns)/1000) }
	return app.Table(w, []string{"policy", b.Policy + ", sha256 " + b.SHA256}, [][]string{
		{"decisions", fmt.Sprintf("%d, each in a fresh instance, %d bytes of input, %s", b.Decisions, b.Input, b.Engine)},
		{"time", fmt.Sprintf("p50 %s, p90 %s, p99 %s, max %s", us(b.P50), us(b.P90), us(b.P99), us(b.Max))},
		{"loading", fmt.Sprintf("%.0f ms, and %s for the first decision", b.Load, us(b.First))},
		{"fuel", fmt.Sprint(b.Fuel)},
		{"memory", fmt.Sprintf("%d KiB", b.Memory>>10)},
	})
}

// A bound is what --max allows of a figure.
type bound struct {
	name string
	most int64 // nanoseconds, units or bytes
	text string
}

// figures are what can be bounded.
func (b *benched) figures() map[string]int64 {
	return map[string]int64{"p50": b.P50, "p90": b.P90, "p99": b.P99, "max": b.Max, "fuel": int64(b.Fuel), "memory": int64(b.Memory)}
}

func parseBounds(cmd *cobra.Command, texts []string) ([]bound, error) {
	var all []bound
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		b := bound{name: name, text: text}
		if _, ok := new(benched).figures()[name]; !ok {
			return nil, app.Usagef(cmd, "--max %s: there is no figure %q; there are p50, p90, p99, max, fuel and memory", text, name)
		}
		var err error
		if name == "fuel" || name == "memory" {
			err = json.Unmarshal([]byte(value), &b.most)
		} else {
			var d time.Duration
			d, err = time.ParseDuration(value)
			b.most = d.Nanoseconds()
		}
		if err != nil || b.most <= 0 {
			return nil, app.Usagef(cmd, "--max %s: write it as p99=2ms, fuel=200000 or memory=4194304", text)
		}
		all = append(all, b)
	}
	return all, nil
}

// judge is the error of figures that are over their bounds.
func (b *benched) judge(bounds []bound) error {
	var over []string
	for _, limit := range bounds {
		if got := b.figures()[limit.name]; got > limit.most {
			value := fmt.Sprint(got)
			if strings.HasPrefix(limit.name, "p") || limit.name == "max" {
				value = time.Duration(got).String()
			}
			over = append(over, fmt.Sprintf("%s is %s, over %s", limit.name, value, limit.text))
		}
	}
	if over == nil {
		return nil
	}
	return &problem.Error{
		Code: "POL-BENCH", What: strings.Join(over, "; "), Where: "policy " + b.Policy,
		Fix: "make the policy cheaper, or move the bound; measure on an idle machine",
	}
}
