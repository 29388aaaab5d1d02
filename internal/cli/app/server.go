package app

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/local"
	"github.com/folkmoot/moot/problem"
)

const remoteKey = "remote"

// AllowServer lets a command use the rooms of the server that --server names.
func AllowServer(cmd *cobra.Command) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[remoteKey] = "true"
}

// Remote reports whether --server names a server, so that rooms are not those of the
// data folder.
func (a *App) Remote() bool { return a.Flags.server != "" }

// Client returns a client of the process that runs a room: the server that --server
// names, else the daemon of the data folder, else the process that holds the room.
// Whether that process runs is known at the first call. The caller closes the
// client.
func (a *App) Client(room string) (*client.Client, error) {
	token, err := a.token()
	if err != nil {
		return nil, err
	}
	if a.Remote() {
		at, err := a.serverURL(token)
		return client.New(client.Config{URL: at, Token: token}), err
	}
	return client.Local(token, func(ctx context.Context) (net.Conn, error) {
		c, err := local.Dial(ctx, a.Settings.Data, a.holder(room))
		switch {
		case !errors.Is(err, local.ErrNone):
			return c, err
		case room == "":
			return nil, NoServer()
		}
		return nil, idleError(room)
	}), nil
}

// Processes returns clients of all processes of the data folder that listen, by their
// sockets, or one of the server that --server names. The caller closes them.
func (a *App) Processes() (map[string]*client.Client, error) {
	if a.Remote() {
		c, err := a.Client("")
		return map[string]*client.Client{a.Flags.server: c}, err
	}
	token, err := a.token()
	if err != nil {
		return nil, err
	}
	sockets, err := local.Find(a.Settings.Data)
	if err != nil {
		return nil, err
	}
	all := map[string]*client.Client{}
	for _, s := range sockets {
		all[s.Path] = client.Local(token, s.Dial)
	}
	return all, nil
}

// Daemon returns a client of the daemon of the data folder or of the server that
// --server names, and nil if there is neither.
func (a *App) Daemon() (*client.Client, error) {
	if !a.Remote() {
		switch _, err := local.FindDaemon(a.Settings.Data); {
		case errors.Is(err, local.ErrNone), errors.Is(err, syscall.ENOTDIR): // the log says what is wrong with the folder
			return nil, nil
		case err != nil:
			return nil, err
		}
	}
	return a.Client("")
}

// holder returns the id of the process that holds a room, and 0 if none does.
func (a *App) holder(room string) int {
	if room == "" {
		return 0
	}
	db, err := a.ReadLog()
	if err != nil {
		return 0
	}
	defer db.Close()
	return db.Holder(room)
}

// NoServer reports that no daemon runs for the data folder.
func NoServer() error {
	return &problem.Error{Code: "SERVER-NONE", What: "no `moot serve` runs for this data folder", Fix: "start it, or name another server with --server", Kind: local.ErrNone}
}

// idleError reports that no process runs a room.
func idleError(room string) error {
	return &problem.Error{
		Code: "ROOM-IDLE", What: "no process runs the room", Where: "room " + room, Kind: local.ErrNone,
		Fix: "`moot run --room " + room + "` runs it, and `moot serve` runs all rooms",
	}
}

// serverURL returns the address of the server. A token is not sent to another
// machine in clear text.
func (a *App) serverURL(token string) (string, error) {
	u, err := url.Parse(a.Flags.server)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return "", &problem.Error{Code: "API-URL", What: "the server's address cannot be used", Where: a.Flags.server, Fix: "write it as http://127.0.0.1:8420", Err: err}
	}
	if token != "" && u.Scheme == "http" && !isLoopback(u.Hostname()) {
		return "", &problem.Error{Code: "API-URL", What: "a token is not sent to another machine without encryption", Where: a.Flags.server, Fix: "use an address with https"}
	}
	return strings.TrimSuffix(u.Scheme+"://"+u.Host+u.Path, "/"), nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// maxToken bounds a token in bytes.
const maxToken = 4096

// token returns the token for servers, "" if there is none.
func (a *App) token() (string, error) {
	if a.Flags.token == "" {
		return strings.TrimSpace(os.Getenv("MOOT_TOKEN")), nil
	}
	f, err := os.Open(a.Flags.token)
	if err != nil {
		return "", &problem.Error{Code: "CLI-TOKEN", What: "the token cannot be read", Where: a.Flags.token, Fix: "--token-file names a file with one token", Err: err}
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxToken))
	token := strings.TrimSpace(string(b))
	if err != nil || token == "" || strings.ContainsAny(token, " \r\n") {
		return "", &problem.Error{Code: "CLI-TOKEN", What: "the file has no token", Where: a.Flags.token, Fix: "--token-file names a file with one token, as `moot token new` prints it", Err: err}
	}
	return token, nil
}
