package seatcmd

import (
	"bytes"
	_ "embed" // the plugin of opencode
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/problem"
)

// A hookClient is a program whose stop hook can await turns. Claude Code and Codex read
// {"hooks": {"Stop": [{"hooks": [{"type": "command", ...}]}]}} and take the answer
// {"decision": "block", "reason": TEXT}, which lets the agent go on with TEXT. For
// opencode the hook is a plugin, which takes the same answer and knows again.
type hookClient struct {
	name   string
	file   string // of the folder that the client works in
	user   string // in the home folder
	plugin bool   // the file is a plugin of moot's own, which may await on and on
	after  string // what the user does next
}

var hookClients = []hookClient{
	{
		name: "claude", file: ".claude/settings.local.json", user: ".claude/settings.json",
		after: "Start claude again in this folder, so that it reads the hook. It ends its work after 8 turns in a row without a tool;\n" +
			"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP changes that.",
	},
	{
		name: "codex", file: ".codex/hooks.json", user: ".codex/hooks.json",
		after: "Start codex again in this folder, and trust the hook when it asks: it runs none that you have not reviewed.",
	},
	{
		name: "opencode", file: ".opencode/plugins/moot-seat.js", user: ".config/opencode/plugins/moot-seat.js", plugin: true,
		after: "Start opencode again in this folder, so that it loads the plugin, and give the agent something to do: the plugin awaits\n" +
			"the next turn whenever the agent has finished, as long as opencode runs.",
	},
}

//go:embed opencode.js
var opencodePlugin string

// hookTimeout is the time that the client gives the hook, in seconds.
const hookTimeout = 600

// newHookCmd installs and runs the stop hook of a client.
func newHookCmd(a *commands) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hook",
		Short: "Let the stop hook of an agent await the turns of its seat",
		Long: "A stop hook runs when an agent has finished its work. That of moot awaits the next\n" +
			"turn of the agent's seat and hands it to the agent, which goes on with it. So a\n" +
			"session stays in the room without asking again and again.",
		Args: cobra.NoArgs,
		RunE: a.Subcommand,
	}
	cmd.AddCommand(newHookInstallCmd(a), newHookRunCmd(a))
	return cmd
}

func newHookInstallCmd(a *commands) *cobra.Command {
	var seat, room string
	var user, dry bool
	cmd := &cobra.Command{
		Use:   "install claude | codex | opencode",
		Short: "Write the stop hook into the settings of a client",
		Long: "install writes the stop hook into the settings that the client has for this folder:\n" +
			".claude/settings.local.json or .codex/hooks.json. Other settings and hooks stay as\n" +
			"they are; a hook of moot that is there is replaced. For opencode the hook is a\n" +
			"plugin, .opencode/plugins/moot-seat.js.",
		Example:   "  moot hook install claude --room review --as ann\n  moot hook install codex --room review --as bob --dry-run",
		Args:      cobra.ExactArgs(1),
		ValidArgs: []cobra.Completion{"claude", "codex", "opencode"},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := clientNamed(cmd, args[0])
			if err != nil {
				return err
			}
			id, _, err := a.findSeat(cmd.Context(), room, seat)
			if err != nil {
				return err
			}
			return a.install(c, id, seat, user, dry)
		},
	}
	seatFlag(cmd, &seat)
	roomFlag(cmd, &room)
	cmd.Flags().BoolVar(&user, "user", false, "write it into the settings of all your folders")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the file and write nothing")
	return cmd
}

func roomFlag(cmd *cobra.Command, room *string) {
	cmd.Flags().StringVar(room, "room", "", "the room")
}

func clientNamed(cmd *cobra.Command, name string) (hookClient, error) {
	for _, c := range hookClients {
		if c.name == name {
			return c, nil
		}
	}
	return hookClient{}, app.Usagef(cmd, "there is no hook for %q; there is one for claude, codex and opencode", name)
}

// install writes the hook into the file of the client.
func (a *commands) install(c hookClient, room, seat string, user, dry bool) error {
	file := filepath.FromSlash(c.file)
	if user {
		home, err := os.UserHomeDir()
		if err != nil {
			return fmt.Errorf("finding the home folder: %w", err)
		}
		file = filepath.Join(home, filepath.FromSlash(c.user))
	}
	after, err := a.withHookOf(c, file, room, seat)
	if err != nil {
		return err
	}
	if dry {
		_, err := a.Stdout.Write(after)
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return hookProblem("the folder of the settings cannot be made", file, err)
	}
	if err := atomicfile.Write(file, after); err != nil {
		return hookProblem("the settings of "+c.name+" cannot be written", file, err)
	}
	_, err = fmt.Fprintf(a.Stdout, "%s awaits the turns of %s in room %s: %s\n%s\n", c.name, seat, room, file, c.after)
	return err
}

func hookProblem(what, file string, err error) error {
	return &problem.Error{Code: "SEAT-HOOK", What: what, Where: file, Fix: "correct the file, or add the hook by hand: --dry-run prints it", Err: err}
}

// withHookOf returns the file of a client with the hook in it. The client runs the
// command of the hook in any folder.
func (a *commands) withHookOf(c hookClient, file, room, seat string) (after []byte, err error) {
	if a.Settings.Data, err = filepath.Abs(a.Settings.Data); err != nil {
		return nil, fmt.Errorf("finding the data folder: %w", err)
	}
	run := []string{"hook", "run", c.name, "--room", room, "--as", seat}
	if c.plugin {
		words, err := a.ProgramWords(run...)
		if err != nil {
			return nil, fmt.Errorf("finding this program: %w", err)
		}
		return pluginOf(words)
	}
	command, err := a.ProgramLine(run...)
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, hookProblem("the settings of "+c.name+" cannot be read", file, err)
	}
	if after, err = withHook(before, command); err != nil {
		return nil, hookProblem("the settings of "+c.name+" are not the JSON that moot can add to", file, err)
	}
	return after, nil
}

// pluginOf returns the plugin of opencode that runs a command.
func pluginOf(command []string) ([]byte, error) {
	words, err := json.Marshal(command) // JSON is JavaScript
	return []byte(strings.Replace(opencodePlugin, "MOOT_COMMAND", string(words), 1)), err
}

// A matcher is an entry of a list of hooks: which events it is for, and what runs.
type matcher map[string]json.RawMessage

// withHook adds the stop hook to the settings of a client, in place of the one of
// moot that is there. All else stays as it is.
func withHook(settings []byte, command string) ([]byte, error) {
	all, hooks, stops := map[string]json.RawMessage{}, map[string]json.RawMessage{}, []matcher{}
	if len(bytes.TrimSpace(settings)) > 0 {
		if err := json.Unmarshal(settings, &all); err != nil {
			return nil, err
		}
	}
	if err := decodeKey(all, "hooks", &hooks); err != nil {
		return nil, err
	}
	if err := decodeKey(hooks, "Stop", &stops); err != nil {
		return nil, err
	}
	if all == nil || hooks == nil { // null
		return nil, errors.New("it has null where an object is expected")
	}
	kept := []matcher{}
	for _, m := range stops {
		if !ownHook(m) {
			kept = append(kept, m)
		}
	}
	own, err := json.Marshal([]any{struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}{"command", command, hookTimeout}})
	if err != nil {
		return nil, err
	}
	if hooks["Stop"], err = json.Marshal(append(kept, matcher{"hooks": own})); err != nil {
		return nil, err
	}
	if all["hooks"], err = json.Marshal(hooks); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(all)
	return out.Bytes(), err
}

// decodeKey decodes the value of a key, if there is one.
func decodeKey(object map[string]json.RawMessage, key string, v any) error {
	if raw, ok := object[key]; ok {
		return json.Unmarshal(raw, v)
	}
	return nil
}

// ownHook reports whether an entry is the one that install has written.
func ownHook(m matcher) bool {
	var list []struct {
		Command string `json:"command"`
	}
	return json.Unmarshal(m["hooks"], &list) == nil && len(list) == 1 && strings.Contains(list[0].Command, " hook run ") && strings.Contains(list[0].Command, " --room ")
}

// maxHookInput bounds what a client says about the end of a turn, in bytes.
const maxHookInput = 8 << 20

// awaitEnd waits until a client has closed the input of its hook, and then ends the wait
// for the turn. It stays until the process ends, because reading cannot be interrupted.
func awaitEnd(r io.Reader, end func()) {
	_, _ = io.Copy(io.Discard, r) // an error is an end too
	end()
}

// readEvent reads what a client says to the hook.
func readEvent(r io.Reader) (event struct {
	Again bool `json:"stop_hook_active"` // the agent went on because of the hook before
}, err error,
) {
	b, err := io.ReadAll(io.LimitReader(r, maxHookInput))
	if err == nil {
		err = json.Unmarshal(b, &event)
	}
	return event, err
}
