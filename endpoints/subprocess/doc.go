// Package subprocess supervises the process of an agent: it starts the process,
// replaces it when it has ended, waits for late answers, and ends it. It holds
// what all endpoints with a resident process share, whatever protocol the
// process speaks.
//
// # Parts
//
// A [Supervisor] has at most one process at a time. The endpoint embeds or holds
// one and takes its slot for each request:
//
//	release, err := s.Acquire()      // one request in flight, else endpoint.ErrBusy
//	defer release()
//	s.SetFloor(floor)                // signals go there from now on
//	p, err := s.Ready(ctx)           // a running process, a new one if needed
//	p.MarkAsked()                    // it now has something to forget
//	... p.Conn sends the request and waits for the answer or the end of ctx ...
//	p.AwaitLate(answered, counts)    // only if the request was abandoned
//	return reply, s.MarkRestart(p, err)
//
// The protocol is a [Connection] to one process. The supervisor makes one for each
// process by the function given to [New], calls Read on a goroutine of its own,
// and calls End when the process has ended or must end. The Connection may
// call its own End when the process can never answer again; the supervisor then
// ends the process. A Connection ends once: a new process gets a new one.
//
// A [Writer] writes whole lines to the process, one at a time, and gives up when a
// context ends. Lines of output are read by [spawn.Lines] and cleaned by
// [spawn.TrimLine].
//
// [Slot], [Await], [ExitError] and [ContextError] are also for endpoints without a
// resident process.
//
// # Life of a process
//
// Ready starts the first process. A process ends by itself, because its
// Connection has ended, because it gave no answer within Config.Grace after
// its request was abandoned, or by Close. Its group is then ended by SIGTERM, and
// by SIGKILL after a further Grace. Ready waits until nothing of the process is
// left before it starts the next one, and never returns a process that has
// ended. Config.Restart limits how many processes are replaced. Once none is left,
// Ready returns the error with which the latest process ended.
//
// # Errors
//
// The error of a process that has ended wraps endpoint.ErrExited. It has the exit
// status and the last words on standard error. MarkRestart adds
// endpoint.ErrInterrupted if another process follows, so that the seat is not
// suspended.
//
// # Signals
//
// Each process has a queue of signals to the room, Process.Signals. When a process
// ends, and not by Close, the supervisor raises endpoint.SignalExited. If another
// process follows and the ended one was asked something, it raises
// endpoint.SignalForgot before that, unless Config.Resumes is set: an endpoint
// that resumes the session in the new process raises endpoint.SignalForgot
// itself, on the queue of the new process, when that fails.
package subprocess
