package setupcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/problem"
)

// logFiles are the files of a log, in the order in which they leave the data folder:
// a database never stays without its heads, which show that its end is missing.
// SQLite makes moot.db-shm again.
var logFiles = []string{"moot.db-wal", "moot.db", "moot.heads"}

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
			"can run meanwhile; end `moot share` and `moot watch` first. Run restore again if it\n" +
			"was interrupted.",
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
	unlock, err := a.Wiring().LockData()
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Lstat(filepath.Join(data, "moot.db")); err == nil && !replace {
		return restoreError(data, errors.New("it holds rooms"), "--replace moves them away")
	}
	done := restored{Data: data, Rooms: rooms}
	if done.Replaced, err = a.replace(data, dir); err != nil {
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
	db, err := w.OpenFolder(true)
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

// replace puts the parts of a backup into the data folder, and returns where those
// of before are.
func (a *commands) replace(data, backup string) (old string, err error) {
	staged, err := os.MkdirTemp(data, ".restore-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(staged)
	if err := errors.Join(copyLog(staged, backup), copyParts(staged, backup, true)); err != nil {
		return "", err
	}
	w := a.Wiring()
	w.Settings.Data = staged
	db, err := w.OpenFolder(false) // takes in the write-ahead log of a backup that was used
	if err != nil {
		return "", err
	}
	if err := db.Close(); err != nil {
		return "", err
	}
	if info, err := os.Stat(filepath.Join(staged, logFiles[0])); err == nil && info.Size() > 0 {
		return "", errors.New("the write-ahead log of the backup cannot be moved into its database")
	}
	return exchange(data, staged)
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

// exchange moves the old parts of the data folder away and those of staged in. The
// heads come before the database, with which the new log is there. Interrupted at any
// point, the old log is whole in the data folder or in the folder replaced-TIME, and
// each other part is in one of the two.
func exchange(data, staged string) (old string, err error) {
	parts, err := partsOf(staged, true)
	if err != nil {
		return "", err
	}
	if old, err = moveAway(data, parts); err != nil {
		return old, err
	}
	for _, name := range append(parts, "moot.heads") {
		if err := os.Rename(filepath.Join(staged, name), filepath.Join(data, name)); err != nil {
			return old, err
		}
	}
	if err := atomicfile.SyncDir(data); err != nil {
		return old, err
	}
	if err := os.Rename(filepath.Join(staged, "moot.db"), filepath.Join(data, "moot.db")); err != nil {
		return old, err
	}
	return old, atomicfile.SyncDir(data)
}

// moveAway moves the log and other parts of the data folder into a new folder in it,
// "" when there are none. The log has all its names there, as links, before it loses
// one in the data folder.
func moveAway(data string, parts []string) (old string, err error) {
	hidden, err := os.MkdirTemp(data, ".replaced-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(hidden) // it has another name after a success
	for _, name := range logFiles {
		if err := os.Link(filepath.Join(data, name), filepath.Join(hidden, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	if err := atomicfile.SyncDir(hidden); err != nil {
		return "", err
	}
	old = filepath.Join(data, "replaced-"+time.Now().UTC().Format("20060102T150405.000000000Z"))
	if err := os.Rename(hidden, old); err != nil {
		return "", err
	}
	if err := atomicfile.SyncDir(data); err != nil {
		return old, err
	}
	for _, name := range append([]string{"moot.db-shm"}, logFiles...) {
		if err := os.Remove(filepath.Join(data, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return old, err
		}
	}
	for _, name := range parts {
		if err := os.Rename(filepath.Join(data, name), filepath.Join(old, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return old, err
		}
	}
	if os.Remove(old) == nil { // only an empty folder is removed
		return "", nil
	}
	return old, errors.Join(atomicfile.SyncDir(old), atomicfile.SyncDir(data))
}
