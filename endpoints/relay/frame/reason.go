package frame

import "strconv"

// A RejectCode is the reason of a refused login.
type RejectCode uint16

// The reasons of a refused login.
const (
	RejectAuth    RejectCode = 1 // the signature is not valid for the device, this relay and this connection
	RejectToken   RejectCode = 2 // the device is not listed and the token is wrong
	RejectFull    RejectCode = 3 // the relay, or the address's quota, is full
	RejectTooMany RejectCode = 4 // too many logins from the address
	RejectVersion RejectCode = 5 // the relay has another version
)

var rejectNames = [...]string{RejectAuth: "auth", RejectToken: "token", RejectFull: "full", RejectTooMany: "too_many", RejectVersion: "version"}

// String returns the code's name.
func (c RejectCode) String() string {
	if c.known() {
		return rejectNames[c]
	}
	return strconv.Itoa(int(c))
}

func (c RejectCode) known() bool { return c >= RejectAuth && c <= RejectVersion }

// A GoneReason is the reason why a frame was not forwarded.
type GoneReason byte

// The reasons why a frame was not forwarded.
const (
	GoneDisconnected GoneReason = 0 // the destination has disconnected
	GoneNotHere      GoneReason = 1 // the destination is not connected
	GoneNotAllowed   GoneReason = 2 // the destination does not accept frames of the sender
	GoneQueueFull    GoneReason = 3 // the destination reads too slowly
)

var goneNames = [...]string{GoneDisconnected: "disconnected", GoneNotHere: "not_here", GoneNotAllowed: "not_allowed", GoneQueueFull: "queue_full"}

// String returns the reason's name.
func (r GoneReason) String() string {
	if r.known() {
		return goneNames[r]
	}
	return strconv.Itoa(int(r))
}

func (r GoneReason) known() bool { return r <= GoneQueueFull }
