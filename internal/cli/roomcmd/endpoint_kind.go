package roomcmd

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/endpoints/acp"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/config"
)

// checkedKinds are the kinds of agents that can be checked.
var checkedKinds = []string{config.KindNDJSON, config.KindACP, config.KindCommand, config.KindOpenAI}

// An agentFlags says on the command line what `endpoint:` says in room.yaml.
type agentFlags struct {
	kind   string
	agent  string
	url    string
	model  string
	keyEnv string
	env    []string
}

func (f *agentFlags) add(cmd *cobra.Command) {
	known, flags := knownAgents(), cmd.Flags()
	flags.StringVar(&f.kind, "kind", config.KindNDJSON, "kind of the agent: "+strings.Join(checkedKinds, ", "))
	flags.StringVar(&f.agent, "agent", "", "known agent of kind acp: "+strings.Join(known, ", "))
	flags.StringVar(&f.url, "url", "", "URL of the server of kind openai (default "+config.DefaultBaseURL+")")
	flags.StringVar(&f.model, "model", "", "model of kind openai")
	flags.StringVar(&f.keyEnv, "key-env", "", "variable that contains the key of the server")
	flags.StringSliceVar(&f.env, "env", nil, "variable to pass on to the agent; can be repeated")
	for name, values := range map[string][]string{"kind": checkedKinds, "agent": known, "url": nil, "model": nil} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	}
}

func knownAgents() (names []string) {
	for _, p := range acp.Presets() {
		names = append(names, p.Name)
	}
	return names
}

// endpoint returns the endpoint of the flags and of the command.
func (f *agentFlags) endpoint(cmd *cobra.Command, command []string) (config.Endpoint, error) {
	if err := f.validate(cmd, command); err != nil {
		return config.Endpoint{}, err
	}
	e := config.Endpoint{Kind: f.kind, Command: command, Agent: f.agent, Env: map[string]string{}}
	if f.kind == config.KindOpenAI {
		e.BaseURL, e.Model = cmp.Or(f.url, config.DefaultBaseURL), f.model
	}
	var err error
	if f.keyEnv != "" {
		e.APIKey, err = variable(cmd, "key-env", f.keyEnv)
	}
	for _, name := range f.env {
		if err == nil {
			e.Env[name], err = variable(cmd, "env", name)
		}
	}
	return e, err
}

// validate checks that the flags fit the kind.
func (f *agentFlags) validate(cmd *cobra.Command, command []string) error {
	if !slices.Contains(checkedKinds, f.kind) {
		return app.Usagef(cmd, "--kind %s is not one of %s", f.kind, strings.Join(checkedKinds, ", "))
	}
	server := f.kind == config.KindOpenAI
	for _, flag := range []struct {
		name string
		fits bool
	}{{"agent", f.kind == config.KindACP}, {"url", server}, {"model", server}, {"key-env", server}, {"env", !server}} {
		if cmd.Flags().Changed(flag.name) && !flag.fits {
			return app.Usagef(cmd, "--%s does not fit an agent of kind %s", flag.name, f.kind)
		}
	}
	switch {
	case f.agent != "" && !slices.Contains(knownAgents(), f.agent):
		return app.Usagef(cmd, "--agent %s is not one of %s", f.agent, strings.Join(knownAgents(), ", "))
	case server && len(command) > 0:
		return app.Usagef(cmd, "an agent of kind %s has no command", f.kind)
	case server && f.model == "":
		return app.Usagef(cmd, "--model is missing: it names the model on the server")
	case !server && len(command) == 0 && f.agent == "":
		return app.Usagef(cmd, "the command of the agent is missing; it follows --")
	}
	return nil
}

// variable returns the value of a variable that a flag names.
func variable(cmd *cobra.Command, flag, name string) (string, error) {
	value, ok := os.LookupEnv(name)
	if !ok {
		return "", app.Usagef(cmd, "--%s %s: there is no such variable", flag, name)
	}
	return value, nil
}
