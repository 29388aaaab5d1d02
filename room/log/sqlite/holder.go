package sqlite

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
)

// lockPath is the lock file of a room. A room's id may hold anything, so the
// file is named by its hash.
func (d *DB) lockPath(room string) string {
	sum := sha256.Sum256([]byte(room))
	return filepath.Join(d.dir, lockDir, hex.EncodeToString(sum[:16])+".lock")
}

// Holder returns the id of the process that holds room, and 0 when none does.
// It takes no lock and asks for none, so the answer may be old when it comes:
// it is for people to read.
func (d *DB) Holder(room string) int {
	f, err := os.Open(d.lockPath(room))
	if err != nil {
		return 0
	}
	defer f.Close()
	if pid := holder(f); pid > 0 && alive(pid) {
		return pid
	}
	return 0
}
