package transcripts

import (
	"fmt"
	"slices"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// Version is the version of the portable format that this release writes. It
// reads versions 1 to Version.
const Version = 1

// A Level is the audience of a transcript. The three visibilities of package
// room are levels. A reader sees messages of its own level and of wider ones.
type Level string

// Levels, from the widest audience to the narrowest.
const (
	UserVisible  = Level(room.UserVisible)  // all readers; of redacted messages the summary
	UserRedacted = Level(room.UserRedacted) // redacted messages in full too
	Internal     = Level(room.Internal)     // every message
	All          = Level("all")             // the stored log, with settings, secrets and the chain
)

// Levels returns all levels, from the widest audience to the narrowest.
func Levels() []Level { return []Level{UserVisible, UserRedacted, Internal, All} }

// Valid reports whether l is a level.
func (l Level) Valid() bool { return slices.Contains(Levels(), l) }

// visibility returns the visibility of messages that readers at l see.
func (l Level) visibility() room.Visibility {
	if l == All {
		return room.Internal
	}
	return room.Visibility(l)
}

// A Header is the first line of the portable format.
//
// Every other line is one event. At level All it holds the stored bytes of the
// event. If the source has a hash chain, it also holds the salt and the hash,
// which make the file verifiable; a redacted event keeps its commitment. At the
// other levels texts are withheld and there is no chain.
type Header struct {
	Version int    `json:"moot_transcript"`
	Room    string `json:"room"`
	Level   Level  `json:"level"`
	Events  int64  `json:"events,omitempty"` // number of events; 0 if unknown
	Chain   bool   `json:"chain,omitempty"`  // lines have salt and hash
}

func (h Header) check() error {
	switch {
	case h.Version < 1 || h.Version > Version:
		return fmt.Errorf("transcript version %d is not supported; this moot reads 1 to %d", h.Version, Version)
	case h.Room == "":
		return fmt.Errorf(`"room" is missing`)
	case !h.Level.Valid():
		return fmt.Errorf("level %q is not one of %v", h.Level, Levels())
	case h.Events < 0:
		return fmt.Errorf("events is %d", h.Events)
	case h.Chain && h.Level != All:
		return fmt.Errorf("level %s cannot have a chain", h.Level)
	}
	return nil
}

// chained reports whether e comes from a log with a hash chain.
func chained(e log.Entry) bool { return e.Hash != [32]byte{} }
