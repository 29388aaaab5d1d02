package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/room/log"
)

func newTranscriptVerifyCmd(a *app) *cobra.Command {
	var from reading
	cmd := &cobra.Command{
		Use:   "verify ROOM|FILE...",
		Short: "Check that transcripts are whole and unchanged",
		Long: "verify reads every event and checks its place and, where there is one, the hash\n" +
			"chain. A changed, missing or moved event is named, and moot ends with 3.",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeRooms,
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := from.sources(a, cmd, args)
			if err != nil {
				return err
			}
			defer src.close()
			all := []verified{}
			err = src.each(cmd.Context(), func(o origin) error {
				v, err := verify(o)
				all = append(all, v)
				return err
			})
			if err != nil {
				return err
			}
			return a.emit(all, func(w io.Writer) error {
				for _, v := range all {
					if _, err := fmt.Fprintln(w, v); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	from.add(cmd)
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
	s := fmt.Sprintf("%s: %s intact", v.Room, count(int(v.Events), "event"))
	if v.Redacted > 0 {
		s += fmt.Sprintf(", %d redacted", v.Redacted)
	}
	if !v.Chain {
		return s + "; there is no chain, so only order and number are checked"
	}
	return s + ", chain ends in " + v.Hash
}

// verify reads all of o, whose reader checks what there is to check.
func verify(o origin) (verified, error) {
	v := verified{Room: o.room, Chain: o.chain}
	var last log.Entry
	for e, err := range o.entries {
		if err != nil {
			return v, err
		}
		v.Events++
		if e.Redacted {
			v.Redacted++
		}
		last = e
	}
	if o.chain {
		v.Hash = fmt.Sprintf("%x", last.Hash)
	}
	return v, nil
}
