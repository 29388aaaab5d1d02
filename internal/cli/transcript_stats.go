package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/transcripts"
)

func newTranscriptStatsCmd(a *app) *cobra.Command {
	var from reading
	cmd := &cobra.Command{
		Use:               "stats ROOM|FILE...",
		Short:             "Count turns, airtime, latency, declines, failures and tokens",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeRooms,
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := from.sources(a, cmd, args)
			if err != nil {
				return err
			}
			defer src.close()
			all := []*transcripts.Stats{}
			err = src.each(cmd.Context(), func(o origin) error {
				s, err := transcripts.Collect(o.entries)
				all = append(all, s)
				return err
			})
			if err != nil {
				return err
			}
			return a.emit(all, func(w io.Writer) error { return printStats(w, all) })
		},
	}
	from.add(cmd)
	return cmd
}

func printStats(w io.Writer, all []*transcripts.Stats) error {
	for i, s := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := s.WriteText(w); err != nil {
			return err
		}
		if err := s.WriteBars(w, width(w)); err != nil {
			return err
		}
	}
	return nil
}
