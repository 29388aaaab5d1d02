package transcriptcmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/room/log"
)

func newTranscriptVerifyCmd(a *commands) *cobra.Command {
	var from source.Reading
	cmd := &cobra.Command{
		Use:   "verify ROOM|FILE...",
		Short: "Check that transcripts are whole and unchanged",
		Long: "verify reads every event and checks its place and, where there is one, the hash\n" +
			"chain. A changed, missing or moved event is named, and moot ends with 3.",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: source.CompleteRooms(a.App),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := source.Collect(a.App, cmd, &from, args, verify)
			if source.IsDamage(err) {
				return app.ExitWith(app.ExitInput, err)
			}
			if err != nil {
				return err
			}
			return app.EmitEach(a.App, all, func(v verified) string { return v.String() + "\n" })
		},
	}
	from.Add(cmd)
	return cmd
}

// verified is what was found intact.
type verified struct {
	Room     string `json:"room"`
	Events   int64  `json:"events"`
	Redacted int64  `json:"redacted"`
	Chain    bool   `json:"chain"`
	Hash     string `json:"hash,omitempty"` // of the chain at its end
}

func (v verified) String() string {
	s := fmt.Sprintf("%s: %s intact", v.Room, app.Count(int(v.Events), "event"))
	if v.Redacted > 0 {
		s += fmt.Sprintf(", %d redacted", v.Redacted)
	}
	if !v.Chain {
		return s + "; there is no chain, so only order and number are checked"
	}
	return s + ", chain ends in " + v.Hash
}

// verify reads all of o, whose reader checks what there is to check.
func verify(o source.Origin) (verified, error) {
	v := verified{Room: o.Room, Chain: o.Chain}
	var last log.Entry
	for e, err := range o.Entries {
		if err != nil {
			return v, err
		}
		v.Events++
		if e.Redacted {
			v.Redacted++
		}
		last = e
	}
	if o.Chain {
		v.Hash = fmt.Sprintf("%x", last.Hash)
	}
	return v, nil
}
