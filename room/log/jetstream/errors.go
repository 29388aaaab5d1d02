package jetstream

import (
	"errors"
	"fmt"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
)

// unreachable is the error of servers that do not answer. A change that was asked of them may
// have happened, and can be tried again.
func unreachable(where string, err error) error {
	return &problem.Error{
		Code: "LOG-NATS", What: "the NATS servers do not keep the log: " + err.Error(), Where: where, Err: err, Kind: errors.Join(log.ErrUnknown, log.ErrBusy),
		Fix: "check that the servers run with JetStream, that most of them can be reached, and that the user may use it",
	}
}

func badURL(why string) error {
	return &problem.Error{
		Code: "LOG-URL", What: "the URL is no address of a log on NATS servers: " + why, Where: "log.url",
		Fix: "give the addresses of the servers with commas between them: nats://one:4222,nats://two:4222/moot",
	}
}

func tooSmall(most int64) error {
	return &problem.Error{
		Code: "LOG-NATS", What: fmt.Sprintf("the NATS servers take messages of up to %d bytes only", most), Where: "max_payload",
		Fix: "set max_payload of the servers to 1MB, its default, or more",
	}
}

func noStream(name string, replicas int, err error) error {
	return &problem.Error{
		Code: "LOG-NATS", What: fmt.Sprintf("the NATS servers do not make the stream %s with %d replicas: %v", name, replicas, err), Where: "stream " + name, Err: err,
		Fix: "start as many servers with JetStream as there are replicas, and allow the user to make streams",
	}
}

// lost is the error of a stream that was made and is no more.
func lost(name string) error {
	return &problem.Error{
		Code: "LOG-CORRUPT", What: fmt.Sprintf("the NATS servers have lost the stream %s", name), Where: "stream " + name,
		Kind: &log.CorruptError{Why: "the stream " + name + " is missing"},
		Fix:  "start all servers, or restore the stream from a backup; do not make an empty one in its place",
	}
}

func errReadOnly(prefix string) error {
	return &problem.Error{
		Code: "LOG-READONLY", What: "the log was opened for reading only", Where: "log " + prefix, Kind: log.ErrFailed,
		Fix: "open it for writing",
	}
}

// none is the error of a log that is opened for reading and does not exist.
func none(prefix string) error {
	return &problem.Error{
		Code: "LOG-NONE", What: "the NATS servers have no log " + prefix, Where: "log " + prefix, Kind: log.ErrNotFound,
		Fix: "moot run makes one; or check the URL in the setting log.url",
	}
}

func newer(prefix string, version int) error {
	return &problem.Error{
		Code: "LOG-NEWER", What: fmt.Sprintf("the log %s has the version %d", prefix, version), Where: "log " + prefix,
		Fix: "use a newer release of moot",
	}
}

// unknown is the error of an append whose outcome is not known.
func unknown(err error) error { return fmt.Errorf("appending: %w: %w", log.ErrUnknown, err) }
