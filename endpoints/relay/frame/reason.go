package frame

import "strconv"

// A RejectCode says why a login was refused.
type RejectCode uint16

// The reasons for refusing a login.
const (
	RejectAuth    RejectCode = 1 // the signature is not the device's, for this relay and this connection
	RejectToken   RejectCode = 2 // neither the device nor its token is known
	RejectFull    RejectCode = 3 // the relay, or the address's share of it, is full
	RejectTooMany RejectCode = 4 // too many logins from the address
	RejectVersion RejectCode = 5 // the relay speaks another version
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

// A GoneReason says why a frame was not passed on.
type GoneReason byte

// The reasons for not passing a frame on.
const (
	GoneDisconnected GoneReason = 0 // the destination was connected and is no longer
	GoneNotHere      GoneReason = 1 // the destination is not connected
	GoneNotAllowed   GoneReason = 2 // the destination does not want it
	GoneQueueFull    GoneReason = 3 // the destination does not read fast enough
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
