package log

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/problem"
)

// MaxName bounds the id of a room, in bytes.
const MaxName = 512

// CheckName refuses what no room can be called: 1 to [MaxName] bytes of valid
// UTF-8 without NUL are an id, whatever they mean to a file system or a
// database. The error is coded LOG-ROOM.
func CheckName(room string) error {
	if room == "" || len(room) > MaxName || !utf8.ValidString(room) || strings.ContainsRune(room, 0) {
		return &problem.Error{
			Code: "LOG-ROOM", What: fmt.Sprintf("%.40q cannot be the id of a room", room),
			Fix: fmt.Sprintf("use 1 to %d bytes of valid UTF-8", MaxName),
		}
	}
	return nil
}
