package app

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/folkmoot/moot/problem"
)

// maxPassphrase bounds what is read from something that is no terminal.
const maxPassphrase = 1024

// AskPassphrase asks a person without showing what is typed, or takes the
// first line of stdin where that is no terminal.
func (a *App) AskPassphrase(prompt string) ([]byte, error) {
	none := &problem.Error{Code: "POL-KEY", What: "no passphrase was given", Fix: "type it in a terminal, or let it be the first line of stdin"}
	if f, ok := a.Stdin.(*os.File); ok && a.Interactive() {
		fmt.Fprint(a.Stderr, prompt)
		phrase, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(a.Stderr)
		if err != nil || len(phrase) == 0 {
			none.Err = err
			return nil, none
		}
		return phrase, nil
	}
	line, err := bufio.NewReaderSize(a.Stdin, maxPassphrase).ReadSlice('\n')
	phrase := strings.TrimRight(string(line), "\r\n")
	if phrase == "" || err != nil && len(line) >= maxPassphrase {
		return nil, none
	}
	return []byte(phrase), nil
}
