package transcriptcmd

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/transcripts"
)

func newTranscriptStatsCmd(a *commands) *cobra.Command {
	var from source.Reading
	cmd := &cobra.Command{
		Use:               "stats ROOM|FILE...",
		Short:             "Count turns, airtime, latency, declines, failures and tokens",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: source.CompleteRooms(a.App),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := from.Sources(a.App, cmd, args)
			if err != nil {
				return err
			}
			defer src.Close()
			all := []*transcripts.Stats{}
			err = src.Each(cmd.Context(), func(o source.Origin) error {
				s, err := transcripts.Collect(o.Entries)
				all = append(all, s)
				return err
			})
			if err != nil {
				return err
			}
			return a.Emit(all, func(w io.Writer) error { return printStats(w, app.Width(a.Stdout), all) })
		},
	}
	from.Add(cmd)
	return cmd
}

func printStats(w io.Writer, width int, all []*transcripts.Stats) error {
	for i, s := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := s.WriteText(w); err != nil {
			return err
		}
		if err := s.WriteBars(w, width); err != nil {
			return err
		}
	}
	return nil
}
