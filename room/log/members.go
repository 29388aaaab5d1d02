package log

import (
	"context"
	"fmt"

	"github.com/folkmoot/moot/problem"
)

// MaxInfo bounds what a member announces, in bytes.
const MaxInfo = 4 << 10

// A Member is a process that uses a log kept on servers, while its lease lasts.
type Member struct {
	ID   string // of the handle; new with each opening
	Info string // what it announced, at most MaxInfo bytes, opaque to the log
}

// Members tells which processes use a log that several machines share. A lease ends
// by the clock of the servers.
type Members interface {
	// Self returns the id of this handle.
	Self() string
	// Announce stores the lease of this handle with info and renews it until the log is
	// closed, whether or not the handle holds locks. A second call replaces info. The
	// error of an info that is longer than MaxInfo has the code LOG-MEMBER.
	Announce(ctx context.Context, info string) error
	// Members returns the announced members whose lease lasts, by id.
	Members(ctx context.Context) ([]Member, error)
	// HeldBy returns the id of the live handle that holds the lock of the room; "" for
	// none. The handle need not have announced itself.
	HeldBy(ctx context.Context, room string) (string, error)
}

// CheckInfo refuses an info of more than [MaxInfo] bytes, with the code LOG-MEMBER.
func CheckInfo(info string) error {
	if len(info) > MaxInfo {
		return &problem.Error{
			Code: "LOG-MEMBER", Where: "registry of processes", What: fmt.Sprintf("a process announces %d bytes", len(info)),
			Fix: fmt.Sprintf("announce at most %d bytes, such as an address and a fingerprint", MaxInfo),
		}
	}
	return nil
}
