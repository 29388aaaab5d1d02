package setupcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/problem"
)

// Parts of a data folder next to the log that a backup has. The keys of the device
// are copied only on request.
const (
	auditParts = "audit*.jsonl"
	policyPart = "policies"
	devicePart = "device"
)

// A backedUp is the result of `moot backup`.
type backedUp struct {
	Folder string `json:"folder"`
	Rooms  int    `json:"rooms"`
	Keys   bool   `json:"keys"`
}

func newBackupCmd(a *commands) *cobra.Command {
	var keys bool
	cmd := &cobra.Command{
		Use:   "backup DIR",
		Short: "Copy the data folder into a new folder, while rooms run",
		Long: "backup copies all rooms as they are at one moment, the host log and the installed\n" +
			"policies into a new folder DIR. Rooms run on meanwhile. DIR appears when the copy\n" +
			"is complete and on stable storage. The copy is checked; a room that has lost or\n" +
			"changed events is copied as it is, and named. If the structure of moot.db is\n" +
			"damaged, the copy has what can be read; if no room can, there is no DIR.\n\n" +
			"The keys of this device are left out: a copy of them can act as this device.\n" +
			"--keys copies them too, with peers and invitations.",
		Example: "  moot backup /mnt/backup/moot-monday\n  moot backup ~/moot-with-keys --keys",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.backup(cmd.Context(), args[0], keys) },
	}
	cmd.Flags().BoolVar(&keys, "keys", false, "copy the keys of this device too")
	return cmd
}

func (a *commands) backup(ctx context.Context, dir string, keys bool) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return backupError(dir, err)
	}
	if _, err := os.Lstat(dir); err == nil {
		return backupError(dir, fs.ErrExist)
	}
	db, err := a.Wiring().OpenFolder(true)
	if err != nil {
		return err
	}
	defer db.Close()
	infos, _ := db.Rooms(ctx) // Backup returns the damage
	staged, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".new-*")
	if err != nil {
		return backupError(dir, err)
	}
	defer os.RemoveAll(staged) // nothing is left there after a success
	damage, err := db.Backup(ctx, staged)
	if err != nil {
		return err
	}
	if err := copyParts(staged, a.Settings.Data, keys); err != nil {
		return backupError(dir, err)
	}
	if err := publish(dir, staged); err != nil {
		return backupError(dir, err)
	}
	done := backedUp{dir, len(infos), keys}
	return errors.Join(a.EmitText(done, "%s: %s\n", dir, app.Count(done.Rooms, "room")), damage)
}

// publish gives a folder its name, durably.
func publish(dir, staged string) error {
	if err := atomicfile.SyncDir(staged); err != nil {
		return err
	}
	if err := os.Rename(staged, dir); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(dir))
}

func backupError(dir string, err error) error {
	fix := "name a folder that does not exist yet, in one that can be written"
	return &problem.Error{Code: "BACKUP-FOLDER", What: "the folder of the backup cannot be made", Where: dir, Fix: fix, Err: err}
}

// partsOf returns the names of the parts of a folder next to its log.
func partsOf(dir string, keys bool) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		audit, err := filepath.Match(auditParts, e.Name())
		if err != nil {
			return nil, err
		}
		if audit || e.Name() == policyPart || keys && e.Name() == devicePart {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// copyParts copies what a backup has next to the log.
func copyParts(to, from string, keys bool) error {
	names, err := partsOf(from, keys)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := copyTree(filepath.Join(to, name), filepath.Join(from, name)); err != nil {
			return err
		}
	}
	return nil
}

// copyTree copies a file or a folder of files durably. One that is not there is
// left out, and so are links and locks.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rest)
		if e.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		if !e.Type().IsRegular() || filepath.Ext(path) == ".lock" {
			return nil
		}
		if err := copyFile(target, path); err != nil {
			return fmt.Errorf("copying %s: %w", path, err)
		}
		return atomicfile.SyncDir(filepath.Dir(target))
	})
}

// copyFile copies a file, which must not exist yet, and makes its content durable.
func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
