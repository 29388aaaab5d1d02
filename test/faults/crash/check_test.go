package crash_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
	"github.com/folkmoot/moot/test/faults/crash"
)

// A checker checks images. The engine opens each of them, which repairs its files. Many
// images have the same bytes then, and what is read from them is the same as well: it is
// read once for all of them.
type checker struct {
	seed maphash.Seed

	mu      sync.Mutex
	read    map[uint64]map[string]string // states of things, by the repaired files and the names of the things
	backups map[uint64]bool              // that were opened
}

func newChecker() *checker {
	return &checker{seed: maphash.MakeSeed(), read: map[uint64]map[string]string{}, backups: map[uint64]bool{}}
}

// check lays an image into dir and opens it. always says that it is also read when another one
// had the same files.
func (c *checker) check(dir string, task task, always bool) error {
	states, key, err := c.repaired(dir, task)
	if err != nil {
		return err
	}
	if states == nil || always {
		return c.full(dir, task, key)
	}
	return errors.Join(compare(states, task.want), c.backup(dir, task))
}

// repaired opens and closes an image, and returns the states that were read from another
// one with the same files.
func (c *checker) repaired(dir string, task task) (states map[string]string, key uint64, err error) {
	if err := relay(dir, task.image); err != nil {
		return nil, 0, err
	}
	d, err := open(dir)
	if err != nil {
		return nil, 0, err
	}
	if err := d.Close(); err != nil {
		return nil, 0, fmt.Errorf("closing: %w", err)
	}
	if key, err = c.key(dir, task.want); err != nil {
		return nil, 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read[key], key, nil
}

// key identifies the files of a folder but for its backup, and the names of things.
func (c *checker) key(dir string, want expected) (uint64, error) {
	var h maphash.Hash
	h.SetSeed(c.seed)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == filepath.Join(dir, copyName):
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(&h, "%s %d ", path[len(dir):], len(content))
		h.Write(content)
		return err
	})
	for _, thing := range slices.Sorted(maps.Keys(want)) {
		fmt.Fprint(&h, thing, " ")
	}
	return h.Sum64(), err
}

// full reads everything in an image, opens it again, and checks the structure of the
// database. It notes what it read under key.
func (c *checker) full(dir string, task task, key uint64) error {
	if err := lay(dir, task.image); err != nil {
		return err
	}
	states, err := readFolder(dir, slices.Collect(maps.Keys(task.want)))
	if err != nil {
		return err
	}
	if err := checkAgain(dir); err != nil {
		return err
	}
	c.mu.Lock()
	c.read[key] = states
	c.mu.Unlock()
	return errors.Join(compare(states, task.want), c.backup(dir, task))
}

// backup opens the backup in an image if it is complete, once for all with the same files.
func (c *checker) backup(dir string, task task) error {
	if len(task.want["backup:"]) != 1 {
		return nil
	}
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, name := range slices.Sorted(maps.Keys(task.image)) {
		if strings.HasPrefix(name, copyName+"/") {
			fmt.Fprintf(&h, "%s %d ", name, len(task.image[name]))
			h.Write(task.image[name])
		}
	}
	c.mu.Lock()
	known := c.backups[h.Sum64()]
	c.mu.Unlock()
	if known {
		return nil
	}
	if err := lay(dir, task.image); err != nil {
		return err
	}
	if err := checkBackup(filepath.Join(dir, copyName)); err != nil {
		return err
	}
	c.mu.Lock()
	c.backups[h.Sum64()] = true
	c.mu.Unlock()
	return nil
}

// compare reports a thing that has none of its expected states.
func compare(states map[string]string, want expected) error {
	for thing, allowed := range want {
		if state, ok := states[thing]; ok && !slices.Contains(allowed, state) {
			return fmt.Errorf("%s is %s, want one of %v", thing, state, allowed)
		}
	}
	return nil
}

// keep stores an image for a person, in $MOOT_CRASH_KEEP.
func keep(image crash.Image) string {
	to := os.Getenv("MOOT_CRASH_KEEP")
	if to == "" {
		return ""
	}
	to = filepath.Join(to, fmt.Sprint(time.Now().UnixNano()))
	if err := lay(to, image); err != nil {
		return err.Error()
	}
	return "; kept in " + to
}

// lay makes a folder with an image in the place of dir.
func lay(dir string, image crash.Image) error {
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return err
	}
	for name, content := range image {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
			return err
		}
	}
	return nil
}

func open(dir string) (*sqlite.DB, error) {
	d, err := sqlite.Open(sqlite.Config{Dir: dir, Poll: time.Hour})
	if err != nil {
		return nil, fmt.Errorf("opening: %w", err)
	}
	return d, nil
}

// relay is lay but for the backup, and writes over files that are there.
func relay(dir string, image crash.Image) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return lay(dir, image)
	}
	for _, e := range entries {
		if _, ok := image[e.Name()]; !ok && e.Name() != copyName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	for name, content := range image {
		if !strings.Contains(name, "/") {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), content, 0o600))
		}
	}
	return err
}

// readFolder opens a folder, reads the states of things, and appends to rooms. No room may
// be damaged, and chains are checked as they are read.
func readFolder(dir string, things []string) (states map[string]string, err error) {
	d, err := open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	ctx := context.Background()
	if _, err := d.Rooms(ctx); err != nil {
		return nil, fmt.Errorf("listing: %w", err)
	}
	charges, err := d.Charges(ctx, "a", start.Add(-time.Hour))
	if err != nil {
		return nil, err
	}
	amounts := map[string]string{}
	for _, c := range charges {
		amounts["charge:"+c.ID] = fmt.Sprint(c.Tokens)
	}
	states = map[string]string{}
	for _, thing := range things {
		kind, name, _ := strings.Cut(thing, ":")
		switch kind {
		case "room":
			if states[thing], err = describe(d, name); err != nil {
				return nil, err
			}
		case "blob":
			states[thing] = "stored"
			if _, err := d.Blob(ctx, name); errors.Is(err, log.ErrNotFound) {
				states[thing] = absent
			} else if err != nil {
				return nil, err
			}
		case "charge":
			states[thing] = cmp.Or(amounts[thing], absent)
		}
	}
	return states, appendOn(ctx, d)
}

// checkAgain opens a folder that was repaired, which must be whole.
func checkAgain(dir string) error {
	d, err := open(dir)
	if err != nil {
		return fmt.Errorf("again: %w", err)
	}
	if err := errors.Join(d.Check(context.Background()), d.Close()); err != nil {
		return fmt.Errorf("checking: %w", err)
	}
	return nil
}

// appendOn appends to a room, a new one if need be.
func appendOn(ctx context.Context, d *sqlite.DB) error {
	for _, name := range []string{"blue", "other"} {
		if _, err := d.Snapshot(ctx, name); err != nil && !errors.Is(err, log.ErrNotFound) {
			return err
		}
		at, err := d.Tail(ctx, name)
		if err != nil && !errors.Is(err, log.ErrNotFound) {
			return err
		}
		last, _, err := d.Append(ctx, name, at, time.Time{}, logtest.Event("later", "x"))
		if err != nil || last.Seq != at.Seq+1 {
			return fmt.Errorf("appending to %s after %d: at %d, %w", name, at.Seq, last.Seq, err)
		}
	}
	return nil
}

// checkBackup opens a backup that is complete. Room blue may have been removed when it was
// made.
func checkBackup(dir string) error {
	d, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: true})
	if err != nil {
		return fmt.Errorf("opening the backup: %w", err)
	}
	infos, err := d.Rooms(context.Background())
	for _, name := range []string{"red", "green"} {
		if !slices.ContainsFunc(infos, func(i log.Info) bool { return i.Room == name }) {
			err = errors.Join(err, fmt.Errorf("the backup lacks room %s", name))
		}
	}
	return errors.Join(err, d.Check(context.Background()), d.Close())
}
