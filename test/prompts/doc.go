// Package prompts tests what agents are given, by each way in which an agent is
// reached: the frame of a subprocess, a script, the Agent Client Protocol, a command,
// a model server, and each of them behind a share for another owner's room.
package prompts
