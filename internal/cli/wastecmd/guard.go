package wastecmd

import (
	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/policies/builtins"
	"github.com/folkmoot/moot/policies/wasteguard"
	"github.com/folkmoot/moot/policies/wasteguard/training"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/waste"
)

// guard lets the account count what the policy of --policy would have ended.
func guard(cmd *cobra.Command, account *waste.Account, spec string) error {
	name, settings, err := app.PolicySpec(spec)
	if err != nil || name == "none" {
		return err
	}
	if name != "wasteguard" {
		return app.Usagef(cmd, "--policy takes wasteguard, wasteguard@FILE, wasteguard{SETTINGS} or none")
	}
	p := wasteguard.New(builtins.New)
	if settings != nil {
		if err := p.Configure(settings); err != nil {
			return &problem.Error{Code: "ROOM-SETTINGS", What: "the policy refuses its settings", Where: "--policy " + spec, Err: err, Fix: "`moot policy learn --labels` makes such settings"}
		}
	}
	account.Guard, account.TrainedOn = spec, p.TrainedOn()
	account.Watch = func() waste.Watcher { return &training.Guard{Policy: p} }
	return nil
}
