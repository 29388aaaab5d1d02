package app

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/config"
)

// CommandLine is a command of moot as the user can type it next: with the server, the
// data folder and the log, if a flag or a variable named it, and quoted for a POSIX shell. A
// log whose URL may have a password is left out.
func (a *App) CommandLine(args ...string) string { return a.commandLine("moot", args) }

// ProgramLine is a [App.CommandLine] for other programs, which may look in other places for
// this one.
func (a *App) ProgramLine(args ...string) (string, error) {
	program, err := os.Executable()
	return a.commandLine(program, args), err
}

// ProgramWords returns the words of [App.ProgramLine], which are not quoted.
func (a *App) ProgramWords(args ...string) ([]string, error) {
	program, err := os.Executable()
	return a.commandWords(program, args), err
}

func (a *App) commandLine(program string, args []string) string {
	words := a.commandWords(program, args)
	for i, w := range words {
		words[i] = quote(w)
	}
	return strings.Join(words, " ")
}

func (a *App) commandWords(program string, args []string) []string {
	words := append([]string{program}, args...)
	if a.Remote() {
		words = append(words, "--server", a.Flags.server)
	}
	if a.given("data") {
		words = append(words, "--data", a.Settings.Data)
	}
	if at := a.Settings.LogURL; at != "" && a.given("log.url") && config.HidePassword(at) == at {
		words = append(words, "--log", at)
	}
	return words
}

// given reports whether a setting is that of a flag or a variable.
func (a *App) given(key string) bool {
	return slices.ContainsFunc(a.Origins, func(s config.Setting) bool {
		return s.Key == key && (strings.HasPrefix(s.Origin, "flag ") || strings.HasPrefix(s.Origin, "env "))
	})
}

// Place says where the rooms are kept.
func (a *App) Place() string {
	if a.Settings.LogURL != "" {
		return config.HidePassword(a.Settings.LogURL)
	}
	return a.Settings.Data
}

// plainWord matches what no shell changes.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=-]+$`)

// quote quotes a word for a POSIX shell, where that is needed.
func quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
