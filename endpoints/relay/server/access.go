package server

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/problem"
)

// maxAccessFile bounds the files of tokens and devices, in bytes.
const maxAccessFile = 1 << 20

// ReadTokens reads a file of tokens, one per line. The path "" means no
// tokens. Files that other users can read are refused.
func ReadTokens(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	st, err := os.Stat(path)
	if err == nil && st.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, &problem.Error{Code: "RELAY-TOKENS", What: fmt.Sprintf("others may read the tokens: the file has mode %04o", st.Mode().Perm()), Where: path, Fix: "chmod 600 " + path}
	}
	lines, err := readLines(path)
	if err != nil {
		return nil, &problem.Error{Code: "RELAY-TOKENS", What: "the tokens cannot be read", Where: path, Fix: "(umask 077; head -c 24 /dev/urandom | base64 >" + path + ") writes one", Err: err}
	}
	var tokens []string
	for i, t := range lines {
		if len(t.text) < MinToken || len(t.text) > frame.MaxToken {
			return nil, &problem.Error{Code: "RELAY-TOKENS", What: fmt.Sprintf("token %d is shorter than %d or longer than %d characters", i+1, MinToken, frame.MaxToken), Where: fmt.Sprintf("%s:%d", path, t.number), Fix: "head -c 24 /dev/urandom | base64 makes one"}
		}
		tokens = append(tokens, t.text)
	}
	return tokens, nil
}

// ReadDevices reads device ids from a file, one per line, and from a list. The
// path "" means no file.
func ReadDevices(path string, list []string) (ids []frame.ID, err error) {
	var lines []line
	if path != "" {
		if lines, err = readLines(path); err != nil {
			return nil, &problem.Error{Code: "RELAY-DEVICES", What: "the devices cannot be read", Where: path, Fix: "write one device id per line", Err: err}
		}
	}
	for _, l := range lines {
		id, err := identity.ParseDeviceID(l.text)
		if err != nil {
			return nil, &problem.Error{Code: "RELAY-DEVICES", What: "this line is not a device id", Where: fmt.Sprintf("%s:%d", path, l.number), Fix: "write one device id per line", Err: err}
		}
		ids = append(ids, frame.ID(id))
	}
	for _, text := range list {
		id, err := identity.ParseDeviceID(text)
		if err != nil {
			return nil, &problem.Error{Code: "RELAY-DEVICES", What: "the value of --allow is not a device id", Fix: "give it a device id", Err: err}
		}
		ids = append(ids, frame.ID(id))
	}
	return ids, nil
}

// A line is a line of a file that is neither empty nor a comment.
type line struct {
	number int
	text   string
}

func readLines(path string) (lines []line, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(text) > maxAccessFile {
		return nil, fmt.Errorf("over %d bytes", maxAccessFile)
	}
	sc := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; sc.Scan(); n++ {
		if t := strings.TrimSpace(sc.Text()); t != "" && !strings.HasPrefix(t, "#") {
			lines = append(lines, line{n, t})
		}
	}
	return lines, sc.Err()
}
