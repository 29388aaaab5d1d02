// Package a2a is an endpoint for agents that are servers of the Agent2Agent
// protocol (A2A) 1.0, over its JSON-RPC binding.
//
// Start gets the agent card from /.well-known/agent-card.json below the URL. The
// endpoint uses the first JSON-RPC interface of version 1 that the card names on the
// same scheme, host and port; it sends nothing to another host. A card that requires
// an extension is refused.
//
// A turn is one message: the instructions of the agent's owner, how the agent
// passes, and the text of the prompt. Its contextId is a hash of the room and the
// seat, so that the agent may remember a room; no room depends on it. The message is
// streamed if the card offers that. The agent cannot bid or state its usage.
//
// # The answer
//
// The answer is the text of a message, or that of a task: its artifacts, else the
// message of its last status. Text of a status before goes to watchers. Parts that
// are no text are left out, and watchers are told. The states of a task:
//
//	completed       the answer
//	input-required  the question is said; the next turn continues the task
//	rejected        the agent has refused
//	auth-required, failed, canceled
//	                the turn fails
//
// A turn that ends before its task does cancels the task, with a bound on the time.
// The id of a task is unknown until the agent has sent it: without streaming, the
// agent sees a closed connection only.
//
// Retries, redirects and bounds are those of package webclient. The texts of a room
// are encrypted to the server by TLS, not end to end.
package a2a
