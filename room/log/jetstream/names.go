package jetstream

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"strings"
)

// Names of streams, after the prefix.
const (
	indexStream  = "index"  // the mark of the log, heads of rooms, locks and their holders
	keepStream   = "keep"   // blobs and snapshots
	ledgerStream = "ledger" // what agents use
	roomStream   = "room"   // and a number: the events of rooms
)

// encodeName returns name as one token of a subject. A name of ASCII letters, digits, - and _
// is its own token unless it begins with _; others are in base64 after a _.
func encodeName(name string) string {
	for i, c := range []byte(name) {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' && i > 0
		if !plain {
			return "_" + base64.RawURLEncoding.EncodeToString([]byte(name))
		}
	}
	if name == "" {
		return "_"
	}
	return name
}

// decodeName is the inverse of encodeName.
func decodeName(token string) (string, bool) {
	rest, coded := strings.CutPrefix(token, "_")
	if !coded {
		return token, true
	}
	name, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	return string(name), err == nil
}

func (d *DB) stream(name string) string { return d.prefix + "-" + name }

// subject returns the subject of a thing: <prefix>.<kind>.<name>.
func (d *DB) subject(kind, name string) string {
	return d.prefix + "." + kind + "." + encodeName(name)
}

// place returns the stream and the subject of a room.
func (d *DB) place(room string) (stream, subject string) {
	h := fnv.New32a()
	h.Write([]byte(room))
	i := int(h.Sum32() % uint32(len(d.shards)))
	return d.shards[i], d.subject(fmt.Sprintf("%s.%d", roomStream, i), room)
}
