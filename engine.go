package moot

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/jetstream"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// A RoomLog is the log of the rooms. The settings choose its engine: files in the data
// folder, or a server at a URL. It is safe for concurrent use.
type RoomLog interface {
	log.Log
	// Restore puts a room back as it was exported, with its chain. A room that exists is
	// [log.ErrConflict].
	Restore(ctx context.Context, room string, entries []log.Entry) error
	// PutBack is Restore with a wake time. imported says that the log was written elsewhere.
	PutBack(ctx context.Context, room string, entries []log.Entry, wake time.Time, imported bool) error
	// Imported reports whether the room was restored: its log was written elsewhere.
	Imported(ctx context.Context, room string) (bool, error)
	// Holder returns the id of the process of this machine that holds the room, 0 for none.
	Holder(room string) int
	// Check reads all of the log. The error joins one error for each defect.
	Check(ctx context.Context) error
}

// A logOpener opens the log at a URL.
type logOpener func(url string, readOnly bool) (RoomLog, error)

// opened makes the result of an engine that of a logOpener: a nil pointer would be no
// nil interface.
func opened[L RoomLog](l L, err error) (RoomLog, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Members returns the registry of the processes that share the log of the rooms. It is
// false where the rooms are kept in the data folder.
func (h *Host) Members() (log.Members, bool) {
	m, ok := h.log.(log.Members)
	return m, ok
}

// OpenLog opens the log of the rooms. The caller closes it.
func (w Wiring) OpenLog(readOnly bool) (RoomLog, error) {
	if w.Cluster != nil {
		return openNATS(jetstream.Config{URL: w.Cluster.URL(), InProcess: w.Cluster, ReadOnly: readOnly, Timeout: clusterTimeout})
	}
	address := w.Settings.LogURL
	if address == "" {
		folder, err := w.ClusterFolder()
		if err != nil {
			return nil, err
		}
		if folder != "" {
			return openCluster(folder, readOnly)
		}
		return opened(w.openFolder(readOnly))
	}
	scheme, _, ok := strings.Cut(address, "://")
	if open := logEngines[scheme]; ok && open != nil {
		// The host log, sockets and keys are in the data folder all the same.
		if err := os.MkdirAll(w.Settings.Data, 0o700); err != nil {
			return nil, &problem.Error{Code: "LOG-OPEN", Where: w.Settings.Data, What: "the data folder cannot be made", Fix: "choose another with --data", Err: err}
		}
		return open(address, readOnly)
	}
	return nil, &problem.Error{
		Code: "LOG-URL", Where: "log.url", What: "no engine keeps rooms at " + config.HidePassword(address),
		Fix: "write a URL that begins with postgres:// or nats://; or leave the setting out, and rooms are kept in the data folder",
	}
}

// OpenFolder opens the log in the data folder, for commands that copy its files. Where
// rooms are kept on a server it is LOG-REMOTE. The caller closes it.
func (w Wiring) OpenFolder(readOnly bool) (*sqlite.DB, error) {
	place, err := config.HidePassword(w.Settings.LogURL), error(nil)
	if place == "" {
		place, err = w.ClusterFolder()
	}
	if err != nil {
		return nil, err
	}
	if place != "" {
		return nil, &problem.Error{
			Code: "LOG-REMOTE", Where: "log.url", What: "the rooms are not in the data folder but at " + place,
			Fix: "use the tools of that server, such as pg_dump or nats account backup; or leave the setting log.url out for the rooms of the data folder",
		}
	}
	return w.openFolder(readOnly)
}
