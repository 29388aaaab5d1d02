package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/roomlist"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// FindRoom returns the id of the room that an argument of a command means: its id,
// the beginning of its id, or its name. Of several rooms with that name it is the
// only one that a process runs and that has not ended.
func (a *App) FindRoom(ctx context.Context, arg string) (string, error) {
	if a.Remote() {
		return a.findRemote(ctx, arg)
	}
	db, err := a.ReadLog()
	if err != nil {
		return "", UnknownRoom(arg, err)
	}
	defer db.Close()
	if log.CheckName(arg) == nil {
		if tail, err := db.Tail(ctx, arg); err == nil && tail.Seq > 0 {
			return arg, nil
		}
	}
	rooms, _ := roomlist.Of(ctx, db, 0, nil) // the damaged ones are listed too
	return matchRoom(rooms, arg)
}

// findRemote is FindRoom for the rooms of a server. A token for one room may not list
// the others, so an id is tried first.
func (a *App) findRemote(ctx context.Context, arg string) (string, error) {
	c, err := a.Client("")
	if err != nil {
		return "", err
	}
	defer c.Close()
	if log.CheckName(arg) == nil {
		if _, err := c.Show(ctx, arg); !errors.Is(err, log.ErrNotFound) {
			return arg, err
		}
	}
	rooms, err := c.Rooms(ctx)
	if err != nil {
		return "", err
	}
	return matchRoom(rooms, arg)
}

// nameOf returns the name that a room was opened with, "" if it has none.
func nameOf(ctx context.Context, db RoomLog, id string) string {
	first, err := db.Read(ctx, id, log.Pos{}, 1)
	if err != nil || len(first) == 0 {
		return ""
	}
	o, _ := first[0].Event.Body.(room.Opened)
	return o.Spec.Name
}

// matchRoom returns the id of the only room that arg means.
func matchRoom(rooms []api.RoomBrief, arg string) (string, error) {
	for _, means := range []func(api.RoomBrief) bool{
		func(r api.RoomBrief) bool { return r.Room == arg },
		func(r api.RoomBrief) bool { return r.Name == arg },
		func(r api.RoomBrief) bool { return r.Name == arg && r.Process != 0 && !over(r) },
		func(r api.RoomBrief) bool { return strings.HasPrefix(r.Room, arg) },
	} {
		var ids []string
		for _, r := range rooms {
			if arg != "" && means(r) {
				ids = append(ids, r.Room)
			}
		}
		if len(ids) == 1 {
			return ids[0], nil
		}
	}
	return "", unclearRoom(rooms, arg)
}

// over reports whether a room has ended for good.
func over(r api.RoomBrief) bool {
	return r.Phase == string(room.PhaseCompleted) || r.Phase == string(room.PhaseStopped) || r.Phase == string(room.PhaseError)
}

// maxNamed bounds the rooms that an error names.
const maxNamed = 5

// unclearRoom reports an argument that means no room, or several.
func unclearRoom(rooms []api.RoomBrief, arg string) error {
	var ids []string
	for _, r := range rooms {
		if arg != "" && (r.Name == arg || strings.HasPrefix(r.Room, arg)) {
			ids = append(ids, r.Room)
		}
	}
	if len(ids) == 0 {
		return UnknownRoom(arg, log.ErrNotFound)
	}
	slices.Sort(ids)
	named := strings.Join(KeepLast(ids, maxNamed), ", ")
	if len(ids) > maxNamed {
		named = "the newest " + named
	}
	return &problem.Error{Code: "ROOM-AMBIGUOUS", What: fmt.Sprintf("%q means %s: %s", arg, Count(len(ids), "room"), named), Fix: "write more of the id"}
}

// CompleteRoom completes the room that is the first argument of a command, and then
// what next completes of that room; nil completes nothing.
func (a *App) CompleteRoom(next func(*room.State) []cobra.Completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		settings, _, err := config.LoadSettings(cmd.Flags())
		if err != nil || a.Remote() {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		a.Settings = settings
		db, err := a.ReadLog()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer db.Close()
		ctx := cmd.Context()
		var all []cobra.Completion
		switch infos, _ := db.Rooms(ctx); {
		case len(args) == 0:
			for _, info := range infos {
				all = append(all, cobra.CompletionWithDesc(info.Room, nameOf(ctx, db, info.Room)))
			}
		case len(args) == 1 && next != nil:
			id, err := a.FindRoom(ctx, args[0])
			if err != nil {
				break
			}
			if s, err := FoldRoom(ctx, db, id); err == nil {
				all = next(s)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteSeats completes seats of a room.
func CompleteSeats(s *room.State) []cobra.Completion {
	var all []cobra.Completion
	for _, x := range s.Seats {
		if x.Driven() {
			all = append(all, x.ID)
		}
	}
	return all
}

// CompleteParticipants completes a flag with the participants of the room that is the
// first argument.
func (a *App) CompleteParticipants() cobra.CompletionFunc {
	complete := a.CompleteRoom(func(s *room.State) (all []cobra.Completion) {
		for _, x := range s.Seats {
			all = append(all, cobra.CompletionWithDesc(x.ID, x.Role))
		}
		return all
	})
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args[:1], word)
	}
}
