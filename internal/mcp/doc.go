// Package mcp is a server of the Model Context Protocol, revisions 2024-11-05 to
// 2026-07-28, over stdio and streamable HTTP. Its tools translate to the HTTP API:
// a tool calls it with the credential of the client that called the tool, so that
// package server alone decides who may do what.
//
// The credential tells who calls, never a session of the protocol. Rooms, seats and
// sessions are arguments, with ids of ours. Nothing uses sampling, roots or logging.
// When a person has to decide, clients of revision 2026-07-28 that can ask their user
// get an input request, and other clients a result with an id to ask for again.
package mcp
