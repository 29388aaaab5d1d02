package problem

// roomCodes are about a room that runs.
var roomCodes = []Meaning{
	{"ROOM-BUSY", failure, "A turn is under way, and the command needs the room between turns.", "Wait for the turn to end, or pause the room."},
	{"ROOM-DENIED", denied, "Who asked may not do that.", "Act as a person of the room, its host, or a moderator's seat."},
	{"ROOM-DRAFT", failure, "No draft with that hash is waiting: it was decided, or edited since.", "Look at the draft that is waiting now."},
	{"ROOM-EFFECT", failure, "The room asked for something that this release cannot do.", "Use the release that wrote the room, or a newer one."},
	{"ROOM-EXISTS", failure, "A room of that id exists.", "`moot run --room ID` reopens it."},
	{"ROOM-ASIDES", failure, "An agent has posted as many messages beside its turn as it may between two turns.", "It can go on at its next turn."},
	{"ROOM-HOPS", failure, "A message has passed more devices than maxHops allows, or has come back to where it was.", "Raise limits.maxHops if the chain is meant."},
	{"ROOM-ID", input, "A message's id is not one that can be kept.", "Use at most 128 printable characters."},
	{"ROOM-ID-TAKEN", failure, "The id belongs to another message or command of the room.", "Give every message an id of its own; repeat one only with the same text."},
	{"ROOM-VISIBILITY", input, "A message has a visibility that is none of the three.", "Use user_visible, user_redacted or internal."},
	{"ROOM-ERROR", failure, "The room cannot go on; its reason says why.", "Mend that, then `moot run --room ID`."},
	{"ROOM-IMPORTED", denied, "The room's log was written elsewhere, and says which programs to start.", "Read them; `moot run --room ID --trust-commands` starts them."},
	{"ROOM-LOCKED", failure, "A process runs the room, so it cannot be removed.", "End that process first; `moot ls` names it."},
	{"ROOM-OVER", failure, "The room has ended for good.", "Start another room; `moot transcript export` has what was said."},
	{"ROOM-PAUSED", failure, "The room is paused, or is not.", "`resume` lifts a pause."},
	{"ROOM-POLICY-STATE", policy, "A decision of the past gives another result now, so the policy's state cannot be rebuilt.", "The module or its settings are not those of the log; `moot transcript verify` says what is intact."},
	{"ROOM-PROMPT", failure, "What an agent was handed cannot be made again from the log: the digests differ.", "Use the release of moot that ran the room; `moot transcript verify ROOM` says what is intact."},
	{"ROOM-SEATS", failure, "The room has as many participants as it may.", "Open another room."},
	{"ROOM-STANDING", failure, "A seat cannot be put into that standing.", "It may be muted, suspended, restored or removed."},
	{"ROOM-UNKNOWN", failure, "There is no room, participant or event of that name.", "`moot ls` lists the rooms, `moot show ROOM` its participants."},
	{"ROOM-UNOPENED", failure, "The log holds no opening of the room.", "`moot transcript verify ROOM` says what is there."},
}

// agentCodes are about starting and talking to agents.
var agentCodes = []Meaning{
	{"AGENT-BUSY", failure, "The agent was asked while it still had a request; it answers one at a time.", "Give each seat a profile of its own."},
	{"AGENT-CHECK", failure, "The agent does not do what the frames ask of it.", "Mend the first requirement that failed; others may follow from it."},
	{"AGENT-CLOSED", failure, "The agent's endpoint was closed.", "Restore the seat, which starts the agent anew."},
	{"AGENT-COMMAND", input, "The agent has no command.", "Give one: command: [\"python3\", \"agent.py\"]."},
	{"AGENT-CWD", failure, "The agent's working folder cannot be used.", "Make the folder, or correct cwd of its endpoint."},
	{"AGENT-ENV", input, "The agent's environment holds what cannot be passed on.", "An entry is NAME: value."},
	{"AGENT-ERROR", failure, "The agent reports an error.", "Mend what the agent complains about."},
	{"AGENT-EXITED", failure, "The agent's program has ended.", "Its last words on stderr say why; restart: N in its endpoint starts it again."},
	{"AGENT-NOTEXEC", failure, "The agent's program cannot be executed.", "chmod +x, and a first line such as #!/bin/sh."},
	{"AGENT-NOTFOUND", failure, "The agent's program was not found.", "A name is looked up in PATH; a path starts with ./"},
	{"AGENT-PROTOCOL", failure, "The agent broke the protocol.", "`moot endpoint check -- COMMAND` shows what it must do."},
	{"AGENT-SCRIPT", input, "A line of a scripted agent's file is not one that is read.", "Each line is one of say, pass, refuse, fail, bid, confidence, delay, usage, message, with its argument."},
	{"AGENT-START", failure, "The agent's program did not start.", "Start it by hand: the cause is the system's."},
	{"AGENT-TIMEOUT", failure, "The agent gave no answer in time.", "Give the seat a longer timeout, or see why the agent is slow."},
	{"AGENT-TOOLARGE", failure, "The agent's answer is too large.", "Raise limits.maxOutputChars, or have the agent keep to constraints.max_output_chars."},
}

// logCodes are about where rooms are kept.
var logCodes = []Meaning{
	{"LOG-BUSY", failure, "Another process writes to the data folder and did not finish in time.", "Try again, or end the other process."},
	{"LOG-CLOSED", failure, "The log was closed.", ""},
	{"LOG-CORRUPT", failure, "What is stored is not what was appended; the first event that is wrong is named.", "`moot transcript verify ROOM` says what is intact; restore the file from a backup."},
	{"LOG-ENGINE", failure, "The storage engine failed.", "Reopen the room; if it happens again, report it with `moot doctor`."},
	{"LOG-EVENT", failure, "An event is whole but cannot be read.", "Use the release of moot that wrote it."},
	{"LOG-FAILED", failure, "A write failed; nothing more is acknowledged until the room is reopened.", "Mend the disk, then `moot run --room ROOM`: nothing acknowledged is lost."},
	{"LOG-FOREIGN", failure, "The file in the data folder is a database of another program.", "Choose another folder with --data."},
	{"LOG-FULL", failure, "The disk is full.", "Free some space, then `moot run --room ROOM`: nothing acknowledged is lost."},
	{"LOG-IO", failure, "The disk reported an error.", "Check the disk, then reopen the room: nothing acknowledged is lost."},
	{"LOG-LOCKED", failure, "Another process runs the room.", "End it, or join it."},
	{"LOG-NEWER", failure, "A newer release of moot wrote the log.", "Use that release, or a newer one."},
	{"LOG-NONE", failure, "There is no log in the data folder.", "`moot run` makes one; --data names another folder."},
	{"LOG-OLDER", failure, "The log has an old format.", "Open it once for writing: it is then brought up to date."},
	{"LOG-OPEN", failure, "The data folder cannot be used.", "Choose another with --data."},
	{"LOG-READ", failure, "The log could not be read.", "Check the disk; `moot transcript verify ROOM` says what is intact."},
	{"LOG-READONLY", failure, "The data folder can only be read.", "Give yourself the right to write to it, or choose another with --data."},
	{"LOG-ROOM", input, "That cannot be the id of a room.", "Use letters, digits, '-' and '_'."},
}

// transcriptCodes are about files of transcripts.
var transcriptCodes = []Meaning{
	{"TRANSCRIPT-CONVERSATION", usage, "A file holds several conversations, or not the one that was asked for.", "`moot transcript ls FILE` lists them; choose one with --conversation."},
	{"TRANSCRIPT-NEWER", input, "An event says what this release does not know, and would lose.", "Import it with the release that wrote it, or a newer one."},
	{"TRANSCRIPT-WRITE", failure, "The file of an export cannot be made.", "Name a file that does not exist yet, in a folder that can be written."},
	{"TRANSCRIPT-CHAIN", input, "The hash chain of the file breaks: an event was changed, removed or moved.", "Export the room again."},
	{"TRANSCRIPT-ARCHIVE", input, "A compressed file or a zip is damaged, holds names that lead out of it, or unpacks to far more than it may.", "Do not trust it; export it again from its source."},
	{"TRANSCRIPT-EMPTY", input, "Nothing is said in the file, or all that is in it was left out; the message says why.", "Check that it is the right file; --format reads it as another form."},
	{"TRANSCRIPT-EVENT", usage, "There is no such event or turn, or nothing can be done to it.", "`moot transcript export ROOM` shows all events with their numbers, `moot transcript show ROOM` the turns."},
	{"TRANSCRIPT-FORMAT", input, "The file has no form of transcripts that is known.", "`moot transcript import --help` lists the forms; --format names one."},
	{"TRANSCRIPT-SHAPE", input, "Something in a file of another program is not as its form has it. The message names the place.", "Export it again with the program that wrote it, or name its form with --format."},
	{"TRANSCRIPT-SIZE", input, "A file of another program is over a bound: 256 MiB in memory, 64 MiB a file of a zip, 4,096 participants.", "Import it in parts, or convert it to the neutral form, which is read line by line."},
	{"TRANSCRIPT-READ", input, "The file is not a transcript of a form that is read.", "`moot transcript import --help` lists the forms."},
}
