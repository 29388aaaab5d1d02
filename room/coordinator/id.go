package coordinator

import (
	"strings"

	"github.com/oklog/ulid/v2"
)

// NewRoomID returns a new id of a room. Ids sort by the time they were made.
func NewRoomID() string { return "r_" + strings.ToLower(ulid.Make().String()) }
