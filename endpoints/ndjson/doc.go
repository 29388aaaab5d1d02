// Package ndjson drives an agent in a subprocess by the frames of the
// one-to-one orchestration note: one JSON object a line, requests on the
// agent's standard input, responses on its standard output.
//
// # Frames
//
// A turn is a desktop.local_prompt.request, answered by exactly one
// desktop.local_prompt.response with the same request_id. The field
// remote_message has the newest message of another seat. The field history has
// the other messages, oldest first, with the roles local_agent (the agent's own)
// and remote_agent (all others). The field constraints has limits. These are the
// frames of the note; an agent that knows only the note works.
//
// An agent may also use these extensions of the note:
//
//   - in requests: prompt, the whole request as one text for a model, which moot
//     rendered once; you, participants, room_constraints, history_summary, hints
//     (of the policy, untrusted), omitted, remote_from, and from and claimed in a
//     history entry;
//   - in responses: outcome (said, passed or refused), usage {input_tokens,
//     output_tokens}, confidence (0 to 1), tool_rounds. An empty draft_message
//     is a pass, and the text of a pass is dropped;
//   - desktop.bid.request, like a prompt, asks how much the agent wants the
//     floor. The answer is desktop.bid.response {request_id, bid (0 to 1),
//     reason, usage}. An agent that leaves two bids unanswered, and never
//     answered one, is not asked again;
//   - desktop.ready, without fields, says that the agent has started. With
//     Config.AwaitReady the seat gets no turn before it;
//   - desktop.message {to, text, message_id} is a message apart from the answer. With a
//     kind it is a typed message with the fields of endpoint.Post.
//     desktop.call {agent_name, task, call_id, ...} is a call of another agent. If it has an
//     id, the room answers with desktop.message.response or
//     desktop.call.response {the id, allowed, reason, body};
//   - inbox in a request has the messages that wait for the agent. desktop.ack
//     {message_ids} acknowledges them, and desktop.claim {task} takes a task of the
//     plan. The answers are desktop.ack.response {acks: [{message_id, allowed, reason}]}
//     and desktop.claim.response {task, allowed, reason};
//   - desktop.permission {permission_id, kind, title, command, argv, paths,
//     detail, always, request_id} asks the agent's owner before it acts, in a turn
//     only. The clock of the turn is stopped meanwhile. The answer is
//     desktop.permission.response {permission_id, allowed, always, reason}.
//
// # Reading
//
// A frame is decoded strictly: valid UTF-8, no duplicate key, no key in another
// case, depth at most 16. Unknown fields are ignored, so that the protocol can
// grow. A carriage return, a byte order mark, NULs and terminal sequences around
// a frame are removed. A line without a frame is noise: it is skipped and
// counted. A turn fails after more than Config.MaxNoise such lines since the
// last frame, for a malformed frame, and for a line over Config.MaxLine. The
// process goes on: reading continues at the next newline. Broken rules are
// raised as violations on the floor. A response to an abandoned request is
// raised as late.
//
// # Time
//
// One request is in flight. When its context ends, Speak returns at once. There
// is no frame that cancels a turn, so the process must still answer: it has
// Config.Grace to give its late answer. Then its process group gets SIGTERM, and
// after another Grace SIGKILL. The next Speak waits for the answer or the end of
// the process. An unanswered bid does not end the process, because agents of the
// note do not know bids.
//
// # Ends
//
// The process is started by Start, or by the first Speak. When it ends, it is
// raised as exited, and the turn in flight fails with endpoint.ErrExited, the exit status and the last lines of
// standard error. The turn is not repeated. Later turns fail likewise, unless
// Config.Restart allows a new process. A process that was killed because its
// turn was cancelled is replaced without counting as a restart. Close closes
// standard input, then sends SIGTERM and SIGKILL to the process group, and
// waits. No process lives longer than 5 s after Close.
package ndjson
