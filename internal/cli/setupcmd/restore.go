package setupcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/problem"
)

// logFiles are the files of a log, in the order in which they are moved away: a
// database without its heads would hide that its end is missing.
var logFiles = []string{"moot.db-wal", "moot.db-shm", "moot.db", "moot.heads"}

// A restored is the result of `moot restore`.
type restored struct {
	Data     string `json:"data"`
	Rooms    int    `json:"rooms"`
	Replaced string `json:"replaced,omitempty"` // where the data of before is
}

func newRestoreCmd(a *commands) *cobra.Command {
	var replace bool
	cmd := &cobra.Command{
		Use:   "restore DIR",
		Short: "Put a backup into the data folder",
		Long: "restore copies a folder that `moot backup` wrote into the data folder. Where that\n" +
			"holds rooms, --replace moves what the backup has too into a folder replaced-TIME in\n" +
			"it; nothing is deleted, and the rest stays, such as the keys of this device. No room\n" +
			"may run meanwhile. Run restore again if it was interrupted.",
		Example: "  moot restore /mnt/backup/moot-monday --replace",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.restore(cmd.Context(), args[0], replace) },
	}
	cmd.Flags().BoolVar(&replace, "replace", false, "move rooms that are in the data folder away")
	return cmd
}

func (a *commands) restore(ctx context.Context, dir string, replace bool) error {
	data := a.Settings.Data
	rooms, damage, err := a.backupIn(ctx, dir)
	if err != nil {
		return err
	}
	if sameFolder(dir, data) {
		return restoreError(data, errors.New("it is the data folder itself"), "name a folder that `moot backup` wrote")
	}
	if pids := a.Wiring().RoomHolders(); len(pids) > 0 {
		return &problem.Error{Code: "ROOM-LOCKED", What: app.Count(len(pids), "room") + " of the data folder is being run", Where: data, Fix: "end the processes that `moot ls` names"}
	}
	if _, err := os.Lstat(filepath.Join(data, "moot.db")); err == nil && !replace {
		return restoreError(data, errors.New("it holds rooms"), "--replace moves them away")
	}
	done := restored{Data: data, Rooms: rooms}
	if done.Replaced, err = exchange(data, dir); err != nil {
		return restoreError(data, err, "free some space, see that the folder can be written, and run restore again")
	}
	if done.Replaced != "" {
		a.Note("what was there before is in %s", done.Replaced)
	}
	return errors.Join(a.EmitText(done, "%s: %s\n", data, app.Count(rooms, "room")), damage)
}

// backupIn checks that a folder is a backup, and returns its number of rooms and
// their damage.
func (a *commands) backupIn(ctx context.Context, dir string) (rooms int, damage, err error) {
	w := a.Wiring()
	w.Settings.Data = dir
	db, err := w.OpenLog(true)
	if err != nil {
		return 0, nil, err
	}
	defer db.Close()
	infos, damage := db.Rooms(ctx)
	return len(infos), damage, nil
}

func restoreError(dir string, err error, fix string) error {
	return &problem.Error{Code: "RESTORE-FOLDER", What: "the backup cannot be put into the data folder", Where: dir, Fix: fix, Err: err}
}

// sameFolder reports whether two paths lead to one folder.
func sameFolder(a, b string) bool {
	one, errA := os.Stat(a)
	other, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(one, other)
}

// copyLog copies the files of a log. The database must be there.
func copyLog(to, from string) error {
	for _, name := range logFiles {
		if err := copyTree(filepath.Join(to, name), filepath.Join(from, name)); err != nil {
			return err
		}
	}
	_, err := os.Stat(filepath.Join(to, "moot.db"))
	return err
}

// exchange copies a backup next to the data first, then moves old parts away and
// new ones in, each in one step. Interrupted at any point, the old parts are whole
// in one of two folders.
func exchange(data, backup string) (old string, err error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return "", err
	}
	staged, err := os.MkdirTemp(data, ".restore-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(staged)
	if err := errors.Join(copyLog(staged, backup), copyParts(staged, backup, true)); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(staged)
	if err != nil {
		return "", err
	}
	names := append([]string{}, logFiles...)
	for _, e := range entries {
		if !slices.Contains(logFiles, e.Name()) {
			names = append(names, e.Name())
		}
	}
	if old, err = moveAway(data, names); err != nil {
		return old, err
	}
	for _, name := range names {
		err := os.Rename(filepath.Join(staged, name), filepath.Join(data, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return old, err
		}
	}
	return old, atomicfile.SyncDir(data)
}

// moveAway moves parts of the data folder into a new folder in it, "" when there
// are none.
func moveAway(data string, names []string) (old string, err error) {
	for _, name := range names {
		path := filepath.Join(data, name)
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		if old == "" {
			old = filepath.Join(data, "replaced-"+time.Now().UTC().Format("20060102T150405.000000000Z"))
			if err := os.Mkdir(old, 0o700); err != nil {
				return "", err
			}
		}
		if err := os.Rename(path, filepath.Join(old, name)); err != nil {
			return old, err
		}
	}
	if old == "" {
		return "", nil
	}
	return old, errors.Join(atomicfile.SyncDir(old), atomicfile.SyncDir(data))
}
