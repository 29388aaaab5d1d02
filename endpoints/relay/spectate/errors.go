package spectate

import (
	"fmt"
	"strconv"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// replyCode returns the code of an error reply, or "" when it cannot be read.
func replyCode(e envelope.Envelope) string {
	var r wire.Reply
	if e.DecodeBody(&r) != nil || r.Check() != nil {
		return ""
	}
	return r.Code
}

// refusedError returns the error for a host that does not show a room.
func refusedError(code string) error {
	switch code {
	case wire.ReplyDenied:
		return wire.Problem("WATCH-DENIED", "the other owner's device shows no such room to this one", "ask its owner for an invite of `moot invite --grant observer`, and to list this device under observers: of the room", endpoint.ErrDenied)
	case wire.ReplyWhich:
		return wire.Problem("WATCH-ROOM", "several rooms of the other owner's device may be watched", "name one: --room ID", endpoint.ErrDenied)
	case wire.ReplyLimit:
		return wire.Problem("RELAY-BUSY", "the other owner's device shows as much as it can", "try again later", endpoint.ErrLimited)
	}
	return wire.ErrorOf(code, "")
}

// notPosted returns the error for a message that was not posted.
func notPosted(code string) error {
	switch code {
	case wire.ReplySize:
		return wire.Problem("WATCH-SIZE", "the message is over "+strconv.Itoa(wire.MaxSayChars)+" characters", "say it in several", endpoint.ErrTooLarge)
	case wire.ReplyOver:
		return wire.Problem("WATCH-OVER", "the message was not posted: the room does not run any more", "ask its owner for another room", endpoint.ErrClosed)
	case wire.ReplyMuted:
		return wire.Problem("WATCH-MUTED", "the message was not posted: you may watch and not speak", "ask the room's host to unmute you", endpoint.ErrDenied)
	case wire.ReplyLimit:
		return wire.Problem("RELAY-RATE", "the message was not posted: there have been too many", "wait", endpoint.ErrLimited)
	case wire.ReplyDenied:
		return wire.Problem("WATCH-DENIED", "the message was not posted: the other owner's device does not let this one speak", "ask its owner for an invite of `moot invite --grant observer`", endpoint.ErrDenied)
	}
	return wire.Problem("AGENT-ERROR", fmt.Sprintf("the message was not posted: %s", endpoint.Quote(code)), "ask the room's host what happened", endpoint.ErrAgent)
}
