package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// dailyAliases gives devices the dailyAliases that the log has for them: the same within a
// day, and no longer. Nobody who reads the log learns an id, nor can tell one
// day's device from the next day's.
type dailyAliases struct {
	mu  sync.Mutex
	day int64
	key [sha256.Size]byte
}

const aliasSize = 8

// alias returns a device's name.
func (n *dailyAliases) alias(id frame.ID) string {
	day := time.Now().Unix() / (24 * 60 * 60)
	n.mu.Lock()
	if n.day != day {
		n.day = day
		_, _ = rand.Read(n.key[:]) // it never fails
	}
	h := hmac.New(sha256.New, n.key[:])
	n.mu.Unlock()
	h.Write(id[:])
	return hex.EncodeToString(h.Sum(nil))[:aliasSize]
}
