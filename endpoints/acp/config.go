package acp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/subprocess"
	"github.com/folkmoot/moot/internal/spawn"
)

// A Config says which agent to run, and its limits.
type Config struct {
	Preset   Preset   // what is known of the agent; the zero value is nothing
	Command  []string // the program and its arguments, no shell; nil is the preset's
	Dir      string   // working folder of the process and its session; "" is the current one
	Env      []string // KEY=VALUE, in addition to the few variables that every agent gets
	AllowEnv []string // variables of this process to pass on: "NAME" or "PREFIX*"
	SayAll   bool     // all text of a turn is said, not only what follows the last tool call
	Version  string   // of this program, for the agent

	// Tools returns the tool server for one session, false if there is none. It is
	// called for each session, so that each has a credential of its own; nil is none.
	Tools func() (ToolServer, bool)

	Restart  int           // how often a process that has ended is replaced
	MaxLine  int           // bytes of a line; 0 is 8 MiB
	MaxNoise int           // lines without a message between two messages; 0 is 10, negative is none
	Open     time.Duration // that opening a session takes at most in Speak; 0 is 2 minutes
	Grace    time.Duration // that the agent has to answer a cancelled turn, and to end after SIGTERM; 0 is 5 s
	Close    time.Duration // that a process has to end at Close, and again after SIGTERM; 0 is 2 s

	secrets *secretSet // of the tool servers that sessions got
}

const (
	defaultMaxLine  = 8 << 20
	defaultMaxNoise = 10
	defaultOpen     = 2 * time.Minute
)

func (c Config) withDefaults() Config {
	if c.MaxLine <= 0 {
		c.MaxLine = defaultMaxLine
	}
	switch {
	case c.MaxNoise == 0:
		c.MaxNoise = defaultMaxNoise
	case c.MaxNoise < 0:
		c.MaxNoise = 0
	}
	if c.Open <= 0 {
		c.Open = defaultOpen
	}
	if len(c.Command) == 0 {
		c.Command = c.Preset.Command
	}
	if c.Version == "" {
		c.Version = "devel"
	}
	c.secrets = &secretSet{}
	// The last value of a variable counts: the owner's prevails over one that is
	// passed on, and that of the preset, which makes the agent ask, over both.
	c.Env = slices.Concat(c.Preset.environ(os.LookupEnv, os.Geteuid() == 0), c.Env, c.Preset.Env)
	return c
}

// dir returns the absolute working folder, which a session needs.
func (c Config) dir() string {
	dir, err := filepath.Abs(c.Dir)
	if err != nil { // the current folder was removed; no process starts in it
		return c.Dir
	}
	return dir
}

func (c Config) process() subprocess.Config {
	return subprocess.Config{
		Spawn:   spawn.Config{Command: c.Command, Dir: c.Dir, Env: c.Env, AllowEnv: c.AllowEnv},
		Restart: c.Restart, Grace: c.Grace, Close: c.Close, Resumes: true,
	}
}

// minSecret is the length from which a value of the environment is removed from
// the texts of errors. Shorter ones, such as "1", are in many words.
const minSecret = 6

// redactor returns a function that removes from a text the values of the environment,
// and what gives access to the tool servers.
func (c Config) redactor() func(string) string {
	var pairs []string
	for _, kv := range c.Env {
		if _, v, ok := strings.Cut(kv, "="); ok && len(v) >= minSecret {
			pairs = append(pairs, v, "[redacted]")
		}
	}
	env := strings.NewReplacer(pairs...)
	return func(text string) string { return c.secrets.remove(env.Replace(text)) }
}
