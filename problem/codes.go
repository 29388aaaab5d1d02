package problem

import (
	"cmp"
	"slices"
)

// A Meaning documents a code: `moot help CODE` prints it. Codes are stable;
// those of package plugins are in lower case.
type Meaning struct {
	Code  string `json:"code"`
	Exit  int    `json:"exit"` // of a command that ends with it; see `moot help exit-codes`
	Means string `json:"means"`
	Fix   string `json:"fix,omitempty"`
}

// Exits that codes lead to. internal/cli has the whole table.
const (
	failure = 1
	usage   = 2
	input   = 3
	denied  = 4
	gate    = 6
	policy  = 7
)

// Codes returns all meanings, in the order of their codes.
func Codes() []Meaning {
	all := slices.Concat(fileCodes, settingCodes, roomCodes, agentCodes, logCodes, relayCodes, transcriptCodes, replayCodes, policyCodes, commandCodes, deviceCodes, shareCodes)
	slices.SortFunc(all, func(a, b Meaning) int { return cmp.Compare(a.Code, b.Code) })
	return all
}

// Lookup returns the meaning of a code.
func Lookup(code string) (Meaning, bool) {
	for _, m := range Codes() {
		if m.Code == code {
			return m, true
		}
	}
	return Meaning{}, false
}

// fileCodes are about room.yaml.
var fileCodes = []Meaning{
	{"ROOM-ALIAS", input, "The file has more values than are read, or is nested too deep: usually aliases of aliases, or an anchor that contains itself.", "Write the values out, or share them with include:."},
	{"ROOM-COMMAND", input, "An agent's program is not there or cannot be executed.", "A name is looked up in PATH; a path starts with ./ and is relative to the file. chmod +x makes it executable."},
	{"ROOM-COOLDOWN", input, "With these cooldowns a turn comes that nobody may have. A cooldown counts turns of others, so of n agents each may wait for n-1 at most.", "Lower the cooldown, or add an agent."},
	{"ROOM-CWD", input, "The folder that an agent is to run in is not there.", "cwd is relative to the file; make the folder, or leave cwd out."},
	{"ROOM-DUPLICATE-ID", input, "Two participants have ids that people or programs would mix up.", "Ids differ in more than case."},
	{"ROOM-DUPLICATE-KEY", input, "A key is set twice in one mapping.", "Keep one."},
	{"ROOM-ENDPOINT", input, "An agent has no endpoint, or a person has one.", "Agents are reached through endpoint:; people have kind: human and attend."},
	{"ROOM-HUMAN", input, "A person has a key that means something for agents only.", "Remove it."},
	{"ROOM-INCLUDE", input, "An included file cannot be read, is named absolutely, or is included twice.", "Paths are relative to the file that includes."},
	{"ROOM-INVALID", input, "A room file has problems; each is listed with its own code.", "`moot validate room.yaml` lists them all."},
	{"ROOM-KEY", input, "A key is not known where it stands.", "`moot schema room` prints all keys; editors read it too."},
	{"ROOM-LIMIT", input, "A limit can never be reached, because another one always is first.", "Lower it, or raise the other."},
	{"ROOM-MANUAL", input, "A seat needs approvals and nobody is there to give them.", "Set mode: full_auto, or run with a terminal or the page."},
	{"ROOM-MISSING", input, "A key that is needed is missing.", "`moot schema room` says what is required."},
	{"ROOM-NOBODY", input, "There is no agent, or none is left, that could be given the floor.", "Add an agent, or restore one that is suspended."},
	{"ROOM-ONE-TO-ONE", input, "A one-to-one room has other than two agents: in its file, or because one of them was suspended.", "Set one_to_one: false, where people may attend too; restore the seat and resume."},
	{"ROOM-POLICY", input, "The policy is not there, or does not suit the room.", "`moot policy ls` lists the policies; a path starts with ./"},
	{"ROOM-READ", input, "The file cannot be read.", "`moot init` writes one to start from."},
	{"ROOM-RESERVED-ID", input, "The id means something else in logs and addresses.", "Choose another id; room, policy, host and broadcast are taken."},
	{"ROOM-REVIEW", input, "Review rules are set for a seat whose mode never asks for them.", "Set mode: semi_auto, or remove review:."},
	{"ROOM-SCRIPT", input, "The file of a scripted agent is not there.", "script is relative to the file."},
	{"ROOM-SECRET", input, "A secret is written in the file, or goes where it would be logged. Endpoints are logged as they are written, everything else with its variables expanded.", "Keep the secret in a variable and pass it on in the endpoint: env: {API_KEY: \"${API_KEY}\"}."},
	{"ROOM-SETTINGS", input, "A setting is not one that the policy's own schema allows.", "`moot policy inspect NAME` prints the schema."},
	{"ROOM-SIZE", input, "A file or a person's message is over one mebibyte, or an agent's message over maxOutputChars.", "Put long scripts, and long texts, into files of their own."},
	{"ROOM-TYPE", input, "A value is of another type than is wanted, such as a text instead of a number.", "`moot schema room` says what is wanted."},
	{"ROOM-UNKNOWN-ID", input, "Something names a participant that does not exist.", "Ids are case-sensitive."},
	{"ROOM-UTF8", input, "The file is not text in UTF-8.", "Save it as UTF-8."},
	{"ROOM-VALUE", input, "A value is out of bounds or of the wrong form.", "`moot schema room` says what is allowed."},
	{"ROOM-VARIABLE", input, "A ${VARIABLE} is not set, or is not written as one.", "Export it, or give a default: ${NAME:-default}. $${ stands for the characters themselves."},
	{"ROOM-YAML", input, "The file is not one YAML document.", "YAML is indented with spaces; quote texts that hold : or #."},
}

// settingCodes are about the program's own settings.
var settingCodes = []Meaning{
	{"CONFIG-HOME", failure, "There is no home folder to keep rooms in.", "Set HOME, or MOOT_DATA and MOOT_CACHE."},
	{"CONFIG-KEY", input, "The settings file has a key that is not known.", "`moot config show` lists the settings."},
	{"CONFIG-READ", input, "The settings file cannot be read.", "Let MOOT_CONFIG name a file that can, or unset it."},
	{"CONFIG-VALUE", input, "A setting has a value that is not allowed.", "`moot config show --origin` says where each comes from."},
}

// commandCodes are about the command line itself.
var commandCodes = []Meaning{
	{"CLI-COMMAND", usage, "What was typed in a running room is no command, or its arguments are wrong.", "`help` lists the commands of a room; ? the keys."},
	{"CLI-DIR", usage, "The folder given with -C is not there.", ""},
	{"CLI-USAGE", usage, "A flag or argument is not one that the command has.", "Each command explains itself with --help."},
	{"DOCTOR-FAILED", failure, "Something that moot needs is missing on this machine.", "Each line that failed says what to do."},
	{"INIT-EXISTS", usage, "A file that `moot init` would write is there.", "Choose another folder, or remove the file."},
	{"INIT-WRITE", failure, "A file of a new room could not be written.", "Choose a folder that can be written."},
}
