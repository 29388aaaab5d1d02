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

// dailyAliases maps devices to aliases for the log: an HMAC under a random key
// of the day. An alias reveals no id and cannot be linked to the alias of
// another day.
type dailyAliases struct {
	mu  sync.Mutex
	day int64
	key [sha256.Size]byte
}

const aliasSize = 8

// alias returns the alias of a device.
func (n *dailyAliases) alias(id frame.ID) string {
	day := time.Now().Unix() / (24 * 60 * 60)
	n.mu.Lock()
	if n.day != day {
		n.day = day
		_, _ = rand.Read(n.key[:]) // does not fail
	}
	h := hmac.New(sha256.New, n.key[:])
	n.mu.Unlock()
	h.Write(id[:])
	return hex.EncodeToString(h.Sum(nil))[:aliasSize]
}
