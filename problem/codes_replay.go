package problem

// replayCodes are about replaying policies.
var replayCodes = []Meaning{
	{"POL-MISSING", input, "The module that a room was run with is not there, so its decisions cannot be made again.", "Use the data folder that the room was run in, or the release of moot whose built-in policy it was."},
	{"REPLAY-BASELINE", input, "A reference rule of --policy baseline:NAME does not exist.", "The message lists the names."},
	{"REPLAY-CHECK", input, "What is to be checked holds no recorded decisions.", "--check takes rooms of moot, or files that `moot transcript export` wrote with --level all."},
	{"REPLAY-CHECK-FAILED", gate, "A policy does not decide again as the log says it did.", "The first difference is named; compare the module's digest, its settings and the release of moot."},
	{"REPLAY-GATE", usage, "A condition of --fail-if cannot be read, or names what is not replayed.", "Write [POLICY.]FIGURE OP NUMBER."},
	{"REPLAY-GATE-FAILED", gate, "A condition of --fail-if holds.", "Look at the figures of the report, or move the gate."},
	{"REPLAY-PAGE", input, "The file of --html cannot be written.", "Choose a file that can be written to."},
	{"REPLAY-POINT", usage, "A transcript has no decision of that number.", "Decisions count from 1; in a room of moot the number is that of the event."},
	{"REPLAY-REPORT", input, "A file is no report of a replay that this release reads.", "Give a file that `moot replay ... -o json` wrote."},
}
