package problem

// settingCodes are about the settings file of moot.
var settingCodes = []Meaning{
	{"CONFIG-HOME", failure, "There is no home folder to keep rooms in.", "Set HOME, or MOOT_DATA and MOOT_CACHE."},
	{"CONFIG-KEY", input, "The settings file has an unknown key.", "`moot config show` lists the settings."},
	{"CONFIG-READ", input, "The settings file cannot be read.", "Set MOOT_CONFIG to a readable file, or unset it."},
	{"CONFIG-VALUE", input, "A setting has an invalid value.", "`moot config show --origin` prints where each value comes from."},
}

// commandCodes are about the command line.
var commandCodes = []Meaning{
	{"CLI-COMMAND", usage, "The input in a running room is not a command, or its arguments are wrong.", "`help` lists the commands of a room, ? lists the keys."},
	{"CLI-DIR", usage, "The folder given with -C does not exist.", ""},
	{"CLI-EDITOR", failure, "The editor has failed, or has left no text, too long a text or the same text. Nothing was sent.", "Set VISUAL or EDITOR to a program, or give the text: `moot edit ITEM TEXT`."},
	{"CLI-LIMIT", usage, "A limit that is to be changed does not exist, or has no such value.", "Write NAME=VALUE with the names of limits: in room.yaml, such as maxTurns=60 or maxCost=2.50."},
	{"CLI-TOKEN", usage, "The file of --token-file cannot be read, or has no token.", "It has one line, the token. MOOT_TOKEN is another way to give it."},
	{"CLI-USAGE", usage, "The command does not have this flag or argument.", "Every command explains itself with --help."},
	{"BACKUP-FOLDER", failure, "The folder of a backup cannot be made.", "Name a folder that does not exist yet, in one that can be written."},
	{"RESTORE-FOLDER", failure, "A backup cannot be put into the data folder.", "--replace moves the rooms that are there away. Run restore again if it was interrupted."},
	{"DOCTOR-FAILED", failure, "A requirement of moot is missing on this machine.", "Each failed line says what to do."},
	{"INIT-AGENT", failure, "An agent that `moot init` is to seat is not on this machine.", "Run the command that the message names, or leave the agent out. `moot doctor` lists the agents of this machine."},
	{"INIT-EXISTS", usage, "A file that `moot init` would write already exists.", "Choose another folder, or remove the file."},
	{"RUN-CONDITION", usage, "A condition of --fail-if cannot be read, or names a figure or a seat that does not exist.", "Write [SEAT.]FIGURE OP NUMBER, such as 'turns < 4'. The message lists the figures."},
	{"INIT-WRITE", failure, "A file of a new room could not be written.", "Choose a writable folder."},
}
