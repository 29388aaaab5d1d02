// Package acp drives an agent in a subprocess by version 1 of the Agent Client
// Protocol: JSON-RPC 2.0, one message a line, on the agent's standard input and
// output. See https://agentclientprotocol.com.
//
// # Sessions
//
// An agent has one session, which it remembers. Start opens it: initialize,
// session/new, and the mode of the [Preset], without which the session gets no
// prompt. After the end of its process a session is continued in the next one by
// session/resume, else by session/load, whose repetition of earlier turns is
// dropped. Where the agent offers neither, a new session is opened, and
// endpoint.SignalForgot is raised. The same happens after a turn in which the agent
// broke the protocol so that its output could be mixed up with that of the next
// turn, and when the context of the session is 80 % full. A session that is left is
// closed, if the agent offers that.
//
// Each session gets the tool server of Config.Tools: by HTTP if the agent can use that,
// else as a command that the agent starts.
//
// # Turns
//
// A turn is a session/prompt. Its content is the text of the prompt; in the first
// turn of a session the instructions of the owner precede it. It ends with the
// response to the request. Of a turn with tools, the text behind the last tool
// call is said; Config.SayAll changes that. Thoughts, plans, tool calls and
// earlier text are shown to those who watch. A part of a message without an id, from an
// agent whose messages have ids, is a notice: it is shown and not said. A turn
// without text fails, unless the agent was refused something in it: it then passes.
//
// The clock of a turn begins with its prompt, and stands while a permission
// request waits for the room. When it ends, or the turn is cancelled, the open
// permission requests are answered "cancelled", session/cancel follows, and Speak
// returns. An agent that does not end its turn within Config.Grace is ended and
// replaced, which counts as a restart.
//
// # Permissions
//
// session/request_permission is raised as endpoint.SignalPermission. The room's
// answer selects the option allow_once, or allow_always if the room says so, or
// reject_once. Without a fitting option, outside a turn and for another session the
// request is answered "cancelled". All other requests of the agent are refused:
// the client offers neither files nor terminals.
//
// # Reading
//
// Reading never waits for the room or for a write. Terminal sequences, a byte order
// mark and NULs are removed from a line. A line without a message is noise and is
// skipped; too much of it fails the turn, as does a message that cannot be read and
// a line over Config.MaxLine. The process goes on. Updates of unknown kinds and
// fields of unknown types are ignored, because the protocol may grow. Broken rules
// are raised as violations.
package acp
