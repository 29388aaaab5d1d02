package spawn

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/folkmoot/moot/problem"
)

// workingDir returns the absolute folder to start in.
func workingDir(root, dir string) (string, error) {
	if root == "" {
		return existingDir(dir)
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return "", dirProblem(root, err)
	}
	defer r.Close()
	if dir == "" {
		dir = "."
	}
	inside, err := r.Open(dir)
	if err != nil {
		return "", dirProblem(dir, err)
	}
	defer inside.Close()
	if info, err := inside.Stat(); err != nil || !info.IsDir() {
		return "", dirProblem(dir, cmp.Or(err, error(syscall.ENOTDIR)))
	}
	return filepath.Abs(filepath.Join(root, dir))
}

func existingDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", dirProblem(dir, err)
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return "", dirProblem(dir, cmp.Or(err, error(syscall.ENOTDIR)))
	}
	return abs, nil
}

func dirProblem(dir string, err error) error {
	return &problem.Error{
		Code: "AGENT-CWD", What: fmt.Sprintf("the agent's working folder %s cannot be used: %v", strconv.Quote(dir), err),
		Fix: "create the folder, or correct cwd: of the endpoint", Err: err,
	}
}

// program returns the file to execute.
func program(argv []string, dir string, env []string) (string, error) {
	if len(argv) == 0 || argv[0] == "" {
		return "", &problem.Error{
			Code: "AGENT-COMMAND", What: "the agent has no command",
			Fix: `give one, such as command: ["python3", "agent.py"]`,
		}
	}
	name := argv[0]
	if runtime.GOOS == "windows" {
		path, err := exec.LookPath(name)
		return path, notFound(name, err)
	}
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return path, executable(name, path)
	}
	return search(name, lookup(env, "PATH"))
}

// search searches the PATH of the child. It skips relative entries, because they
// depend on a folder that other users may be able to write.
func search(name, path string) (string, error) {
	var refused error
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, name)
		err := executable(name, file)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && refused == nil {
			refused = err
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", notFound(name, fs.ErrNotExist)
}

func executable(name, path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return notFound(name, err)
	case info.IsDir():
		return notExecutable(name, "it is a folder", "name the program inside the folder", syscall.EISDIR)
	case info.Mode()&0o111 == 0:
		return notExecutable(name, "its permissions forbid it", "run `chmod +x "+path+"`", fs.ErrPermission)
	}
	return nil
}

func notExecutable(name, why, fix string, err error) error {
	return &problem.Error{
		Code: "AGENT-NOTEXEC", What: fmt.Sprintf("the agent's command %s cannot be executed: %s", strconv.Quote(name), why), Fix: fix, Err: hidden{err},
	}
}

func notFound(name string, err error) error {
	if err == nil {
		return nil
	}
	fix := "install it, or write the path of the program"
	if strings.Contains(name, "/") {
		fix = "correct the path; it is relative to the endpoint's cwd:"
	}
	return &problem.Error{Code: "AGENT-NOTFOUND", What: "the agent's command " + strconv.Quote(name) + " was not found", Fix: fix, Err: hidden{err}}
}

// startProblem explains why the system did not start an existing program.
func startProblem(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notExecutable(name, "the interpreter in its first line is missing", "correct the #! line of the script", err)
	case errors.Is(err, syscall.ENOEXEC):
		return notExecutable(name, "it is neither a program for this machine nor a script", "begin the script with #!/bin/sh, or rebuild the program", err)
	case errors.Is(err, fs.ErrPermission):
		return notExecutable(name, "its permissions forbid it", "run `chmod +x` on it and on the interpreter in its first line", err)
	}
	return &problem.Error{Code: "AGENT-START", What: "the agent's command " + strconv.Quote(name) + " did not start", Fix: "see the cause", Err: err}
}

// hidden wraps a cause for errors.Is, without its text, which would repeat What.
type hidden struct{ error }

func (hidden) Error() string   { return "" }
func (h hidden) Unwrap() error { return h.error }
