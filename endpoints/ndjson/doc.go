// Package ndjson drives an agent in a subprocess by the frames of the
// one-to-one orchestration note: one JSON object a line, requests on the
// agent's standard input, responses on its standard output.
//
// # Frames
//
// A turn is asked for with desktop.local_prompt.request and answered by exactly
// one desktop.local_prompt.response with the same request_id, as the note has
// it. A room of many seats is told so: remote_message is the newest message of
// another seat, verbatim; history holds the other messages, oldest first, with
// the roles local_agent (its own) and remote_agent (all others'); the note's
// constraints are limits. An agent that knows nothing but the note works.
//
// What an agent may use beside the note, all optional:
//
//   - in requests: you, participants, room_constraints, history_summary, hints
//     (of the policy, untrusted), omitted, remote_from, and from in a history
//     entry;
//   - in responses: outcome (said, passed or refused), usage {input_tokens,
//     output_tokens}, confidence (0 to 1), tool_rounds. An empty draft_message
//     is a pass, and the text of a pass is dropped;
//   - desktop.bid.request, like a prompt: how much does it want the floor?
//     desktop.bid.response {request_id, bid (0 to 1), reason, usage}. An agent
//     that twice lets one go unanswered and never answered any is not asked
//     again;
//   - desktop.message {to, text, message_id}: something said beside its turn;
//     desktop.call {to, call_id, ...}: a call of another agent. One that carries
//     its id is answered by desktop.message.response or desktop.call.response
//     {the id, allowed, reason, body}.
//
// # Reading
//
// A frame is decoded strictly: UTF-8, no duplicate key, no key in another case,
// depth at most 16. Fields that are unknown are ignored, for the frames are
// meant to be added to. A carriage return, a byte order mark, NULs and terminal
// sequences around a frame are stripped. A line that is no frame is noise,
// skipped and counted; more than Config.MaxNoise since the last frame fail the
// turn. So do a frame that cannot be decoded and a line over Config.MaxLine,
// after which reading goes on at the next newline: the turn fails, not the
// process. Rules that an agent breaks are raised as violations on the floor; a
// response to a request that has ended is raised as late, and dropped.
//
// # Time
//
// One request is in flight. When its context ends, Speak returns at once. There
// is no frame to cancel a turn with, so the process is then out of step: it has
// Config.Grace to give its late answer, then its process group gets SIGTERM and
// after another Grace SIGKILL. The next Speak waits for whichever comes first.
// A bid that goes unanswered leaves the process alone, for agents of the note
// do not know bids.
//
// # Ends
//
// The process is started by the first Speak, or by Start. When it ends, the
// turn in flight fails with endpoint.ErrExited, its exit status and its last
// words; it is never asked again by itself. Later turns fail likewise until
// Config.Restart allows a new process. A process that had to be ended because
// a turn was cancelled, which is nobody's fault, is replaced without counting.
// Close closes standard input, then SIGTERM, then SIGKILL, to the whole group,
// and waits: nothing outlives it by more than 5 s.
package ndjson
