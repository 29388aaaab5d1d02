package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policy"
)

// newPolicyCmd holds what concerns policies.
func newPolicyCmd(a *app) *cobra.Command {
	return a.group(&cobra.Command{Use: "policy", Short: "Look at policies"}, newPolicyLsCmd(a), newPolicyInspectCmd(a))
}

func newPolicyLsCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the policies that rooms can use",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := policies.Verify(); err != nil {
				return err
			}
			list := []policyBrief{}
			for _, name := range policies.Names() {
				m := policies.Manifest(name)
				list = append(list, policyBrief{m.Name, m.Version, "built in", m.SHA256, m.Description})
			}
			return a.emit(list, func(w io.Writer) error {
				rows := make([][]string, len(list))
				for i, p := range list {
					rows[i] = []string{p.Name, p.Version, p.Origin, p.Description}
				}
				return table(w, []string{"NAME", "VERSION", "ORIGIN", "WHAT IT DOES"}, rows)
			})
		},
	}
}

// A policyBrief is a policy in the list of policies.
type policyBrief struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Origin      string `json:"origin"`
	SHA256      string `json:"sha256"`
	Description string `json:"description"`
}

func newPolicyInspectCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect NAME",
		Short: "Show a policy: what it does, its settings, its digest and what it asks for",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := policies.Verify(); err != nil {
				return err
			}
			if !policies.Has(args[0]) {
				return noPolicy(args[0])
			}
			m := policies.Manifest(args[0])
			return a.emit(m, func(w io.Writer) error { return printManifest(w, m) })
		},
	}
	return cmd
}

func printManifest(w io.Writer, m policy.Manifest) error {
	history, text := m.Input.HistoryEvents, m.Input.MaxTextBytes
	if history == 0 {
		history = policy.DefHistory
	}
	if text == 0 {
		text = policy.DefText
	}
	texts := fmt.Sprintf("texts up to %d bytes", text)
	if m.Input.NoText() {
		texts = "no texts"
	}
	if m.Input.Bids {
		texts += ", bids of the agents"
	}
	rows := [][]string{
		{"policy", m.Name + " " + m.Version},
		{"does", m.Description},
		{"author", m.Author},
		{"module", m.Wasm + ", built in, policy ABI " + fmt.Sprint(m.ABI)},
		{"sha256", m.SHA256},
		{"sees", fmt.Sprintf("%d events at first, then what is new; %s", history, texts)},
	}
	if err := table(w, rows[0], rows[1:]); err != nil {
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
		if _, err := fmt.Fprintf(w, "\n%s\n%s\n", part.name, b); err != nil {
			return err
		}
	}
	return nil
}
