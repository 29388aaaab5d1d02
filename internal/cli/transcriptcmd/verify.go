package transcriptcmd

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/transcripts"
)

func newTranscriptVerifyCmd(a *commands) *cobra.Command {
	var from source.Reading
	var expect string
	cmd := &cobra.Command{
		Use:   "verify ROOM|FILE...",
		Short: "Check that transcripts are whole and unchanged",
		Long: "verify reads every event and checks its place and, where there is one, the hash\n" +
			"chain, and that each event can follow from those before: no turn past a limit, or\n" +
			"of a room that is not live. A changed, missing, moved or impossible event is\n" +
			"named, and moot ends with 3. A person who can write to the data folder can\n" +
			"compute a new chain: --expect compares it with a hash that was kept elsewhere,\n" +
			"such as the one that a run prints at its end. The room may have grown since.",
		Example:           "  moot transcript verify r_01\n  moot transcript verify r_01 --expect 9f2c...",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: source.CompleteRooms(a.App),
		RunE: func(cmd *cobra.Command, args []string) error {
			// An empty one, of a script's unset variable, would compare nothing.
			if given := cmd.Flags().Changed("expect"); given && len(expect) != hex.EncodedLen(sha256.Size) {
				return app.Usagef(cmd, "--expect %q is no hash: give the 64 hexadecimal digits that a run prints at its end", expect)
			} else if given && len(args) > 1 {
				return app.Usagef(cmd, "--expect goes with one transcript")
			}
			all, err := source.Collect(a.App, cmd, &from, args, func(o source.Origin) (verified, error) { return verify(o, expect) })
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
	cmd.Flags().StringVar(&expect, "expect", "", "hash that the chain must have at its end, or at an earlier event")
	return cmd
}

// verified is what was found intact.
type verified struct {
	Room     string `json:"room"`
	Events   int64  `json:"events"`
	Redacted int64  `json:"redacted"`
	Chain    bool   `json:"chain"`
	Hash     string `json:"hash,omitempty"`        // of the chain at its end
	Expected int64  `json:"expected_at,omitempty"` // the event at which the chain has the hash of --expect
}

func (v verified) String() string {
	s := fmt.Sprintf("%s: %s intact", v.Room, app.Count(int(v.Events), "event"))
	if v.Redacted > 0 {
		s += fmt.Sprintf(", %d redacted", v.Redacted)
	}
	if !v.Chain {
		return s + "; there is no chain, so only order and number are checked"
	}
	s += ", chain ends in " + v.Hash
	if v.Expected > 0 {
		s += fmt.Sprintf(", as expected at event %d", v.Expected)
	}
	return s
}

// impossible is the error of an event that no room could have recorded.
func impossible(o source.Origin, e log.Entry, why string) error {
	return app.ExitWith(app.ExitInput, &problem.Error{
		Code: "LOG-RULE", What: fmt.Sprintf("event %d of %s cannot follow from the events before it: %s", e.Seq, o.Room, why),
		Where: cmp.Or(o.File, "room "+o.Room), Fix: "do not trust the events from there on; `moot transcript fork` makes a room of those before",
	})
}

// verify reads all of o, whose reader checks what there is to check.
// With expect, one of its events must have that hash.
func verify(o source.Origin, expect string) (verified, error) {
	v := verified{Room: o.Room, Chain: o.Chain}
	var last log.Entry
	state := &room.State{}
	for e, err := range o.Entries {
		if err != nil {
			return v, err
		}
		if o.Form == "room" || o.Form == "portable" && o.Level == transcripts.All {
			if why := state.Follows(e.Event); why != "" {
				return v, impossible(o, e, why)
			}
			state.Apply(e.Event)
		}
		v.Events++
		if e.Redacted {
			v.Redacted++
		}
		if last = e; expect != "" && o.Chain && strings.EqualFold(expect, hex.EncodeToString(e.Hash[:])) {
			v.Expected = v.Events
		}
	}
	if o.Chain {
		v.Hash = fmt.Sprintf("%x", last.Hash)
	}
	if expect != "" && v.Expected == 0 {
		return v, &problem.Error{
			Code: "TRANSCRIPT-EXPECT", What: fmt.Sprintf("no event of %s has the expected hash; the chain ends in %s", o.Room, cmp.Or(v.Hash, "nothing, because there is none")),
			Where: cmp.Or(o.File, "room "+o.Room), Fix: "check that the hash is of this room; if it is, the log is not the one that it was",
		}
	}
	return v, nil
}
