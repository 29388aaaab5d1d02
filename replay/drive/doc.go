// Package drive asks policies for decisions over recorded history.
//
// There are four ways, all without sending or starting anything:
//
//   - [WhatIf] asks each policy at every decision point what it would choose,
//     given the true history so far.
//   - [Simulate] lets one policy run the room: the agents it chooses post their
//     recorded lines.
//   - [Check] asks the policies that ran again, and compares their decisions
//     with the recorded ones byte for byte.
//   - [Explain] asks each policy at one decision point and keeps everything it
//     returned.
//
// A policy that fails does not end a replay: its [Evaluation] holds the error.
package drive
