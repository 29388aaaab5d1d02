// Package accesscmd holds the commands about who may use the server of this device.
package accesscmd

import (
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
)

// commands are the commands of this package.
type commands struct{ *app.App }

// Commands returns the commands about access to the server.
func Commands(a *app.App) []*cobra.Command {
	return []*cobra.Command{newTokenCmd(&commands{a})}
}

// newTokenCmd holds what concerns tokens.
func newTokenCmd(a *commands) *cobra.Command {
	cmd := &cobra.Command{Use: "token", Short: "Manage the tokens of the server's HTTP API"}
	return a.Group(cmd, newTokenNewCmd(a), newTokenLsCmd(a), newTokenRevokeCmd(a))
}

func (a *commands) keys() (*access.Keys, error) {
	return access.OpenKeys(filepath.Join(a.Settings.Data, "server"))
}

func newTokenNewCmd(a *commands) *cobra.Command {
	var g access.Grant
	var scope, lifetime string
	cmd := &cobra.Command{
		Use:   "new --name NAME --scope SCOPE",
		Short: "Issue a token; it is printed once",
		Long: "new issues a token and prints it. moot does not keep it, so it cannot be printed\n" +
			"again. Programs send it in the header Authorization: Bearer TOKEN, and moot itself\n" +
			"takes it from MOOT_TOKEN. Each scope includes those before it:\n\n" +
			"  read     see what rooms show to everybody\n" +
			"  talk     post messages\n" +
			"  control  approve, pause, stop, take over, answer permission requests\n" +
			"  admin    create rooms, pair devices, share agents, issue tokens\n\n" +
			"--room limits the token to one room, and --seat makes its bearer act as a seat of it.",
		Example: "  moot token new --name ci --scope read --expires 30d\n" +
			"  moot token new --name reviewer --scope talk --room ROOM --seat reviewer",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if g.Scope, err = access.ParseScope(scope); err != nil {
				return err
			}
			if g.Expires, err = access.ParseExpiry(lifetime, time.Now()); err != nil {
				return err
			}
			if g.Room != "" { // a token for a name would be for no room
				if g.Room, err = a.FindRoom(cmd.Context(), g.Room); err != nil {
					return err
				}
			}
			k, err := a.keys()
			if err != nil {
				return err
			}
			secret, t, err := k.Issue(g)
			if err != nil {
				return err
			}
			a.Note("token %s for %s: %s", t.ID, t.Name, describe(t))
			return a.EmitText(api.TokenOf(secret, t), "%s\n", secret)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&g.Name, "name", "", "whose token it is, for people")
	fl.StringVar(&scope, "scope", "", strings.Join(access.ScopeNames(), ", "))
	fl.StringVar(&g.Room, "room", "", "the only room that its bearer may use: its id or name")
	fl.StringVar(&g.Seat, "seat", "", "seat of this room that its bearer acts as")
	fl.StringVar(&lifetime, "expires", "", "lifetime, such as 24h or 30d (default none)")
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(access.ScopeNames(), cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return cmd
}

// describe says what a token is for.
func describe(t access.Issued) string {
	text := t.Scope.String()
	if t.Room != "" {
		text += ", room " + t.Room
	}
	if t.Seat != "" {
		text += ", seat " + t.Seat
	}
	if !t.Expires.IsZero() {
		text += ", until " + t.Expires.Local().Format(time.DateTime)
	}
	return text
}

func newTokenLsCmd(a *commands) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the tokens that were issued",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			k, err := a.keys()
			if err != nil {
				return err
			}
			list, err := k.List()
			if err != nil {
				return err
			}
			tokens := []api.Token{}
			for _, t := range list {
				tokens = append(tokens, api.TokenOf("", t))
			}
			return a.Emit(tokens, func(w io.Writer) error {
				return app.Table(w, []string{"ID", "NAME", "STATE", "FOR"}, app.Rows(list, row))
			})
		},
	}
}

func row(t access.Issued) []string {
	state := "valid"
	switch {
	case !t.Revoked.IsZero():
		state = "revoked"
	case !t.Expires.IsZero() && time.Now().After(t.Expires):
		state = "expired"
	}
	return []string{t.ID, t.Name, state, describe(t)}
}

func newTokenRevokeCmd(a *commands) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID",
		Short:   "End a token at once, also for running processes",
		Example: "  moot token revoke t_4fUwz5xYp0Qm",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			k, err := a.keys()
			if err != nil {
				return err
			}
			if err := k.Revoke(args[0]); err != nil {
				return err
			}
			a.Note("%s is revoked", args[0])
			return nil
		},
	}
}
