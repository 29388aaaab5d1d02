package transcripts

import (
	"fmt"
	"slices"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// Version is the version of the portable form that this release writes. It
// reads 1 to Version.
const Version = 1

// A Level says whose eyes a transcript is for. The three visibilities of
// package room are levels: a reader sees what is at its own level and wider.
type Level string

// Levels, from the widest audience to the narrowest.
const (
	UserVisible  = Level(room.UserVisible)  // everybody: redacted messages by their summary alone
	UserRedacted = Level(room.UserRedacted) // those messages too
	Internal     = Level(room.Internal)     // every message
	All          = Level("all")             // the log as it is stored, settings, secrets of the room and chain included
)

// Levels returns all levels, from the widest audience to the narrowest.
func Levels() []Level { return []Level{UserVisible, UserRedacted, Internal, All} }

// Valid reports whether l is a level.
func (l Level) Valid() bool { return slices.Contains(Levels(), l) }

// visibility is what a reader at this level sees of messages.
func (l Level) visibility() room.Visibility {
	if l == All {
		return room.Internal
	}
	return room.Visibility(l)
}

// A Header is the first line of the portable form.
//
// Every line after it is one event. At level All it holds the stored bytes of
// the event, and where the source has a chain, the salt and the hash, so that
// the file proves itself; of a redacted event the commitment is left. At the
// other levels texts are withheld, the bytes are no longer those of the log,
// and there is no chain.
type Header struct {
	Version int    `json:"moot_transcript"`
	Room    string `json:"room"`
	Level   Level  `json:"level"`
	Events  int64  `json:"events,omitempty"` // how many lines follow; 0 when the writer did not know
	Chain   bool   `json:"chain,omitempty"`  // lines carry their salt and hash
}

func (h Header) check() error {
	switch {
	case h.Version < 1 || h.Version > Version:
		return fmt.Errorf("version %d of the transcript form; this moot reads 1 to %d", h.Version, Version)
	case h.Room == "":
		return fmt.Errorf(`"room" is missing`)
	case !h.Level.Valid():
		return fmt.Errorf("level %q is none of %v", h.Level, Levels())
	case h.Events < 0:
		return fmt.Errorf("%d events", h.Events)
	case h.Chain && h.Level != All:
		return fmt.Errorf("a chain at level %s", h.Level)
	}
	return nil
}

// chained reports whether e comes from a log with a chain.
func chained(e log.Entry) bool { return e.Hash != [32]byte{} }
