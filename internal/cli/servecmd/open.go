package servecmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/cli/app"
)

// openBrowser opens the server in the user's browser and signs the browser in.
func (d *daemon) openBrowser(ctx context.Context) error {
	launch, err := d.server.LaunchURL(access.Admin)
	if err != nil {
		return err
	}
	d.Note("browser %s, once and for a minute", launch.URL)
	return d.OpenBrowser(ctx, "open.html", launch.URL)
}

// newOpenCmd signs a browser in to the server that runs.
func newOpenCmd(a *commands) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "open [ROOM]",
		Short: "Open the page of the server that runs, and sign the browser in",
		Long: "open opens the page of `moot serve` in the browser: the list of rooms, or the page\n" +
			"of ROOM. The printed address signs one browser in. It works once, for a minute.",
		Example: "  moot open\n  moot open migration-review",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.open(cmd.Context(), append(args, "")[0])
		},
	}
	app.AllowServer(cmd)
	return cmd
}

func (a *commands) open(ctx context.Context, room string) error {
	c, err := a.Daemon()
	if err != nil {
		return err
	}
	if c == nil {
		return app.NoServer()
	}
	defer c.Close()
	if room != "" {
		if room, err = a.FindRoom(ctx, room); err != nil {
			return err
		}
	}
	launch, err := c.Launch(ctx)
	if err != nil {
		return err
	}
	launch.URL = app.RoomURL(launch.URL, room)
	if err := a.EmitText(launch, "%s\n", launch.URL); err != nil || !app.HasBrowser() {
		return err
	}
	return a.OpenBrowser(ctx, "open.html", launch.URL)
}
