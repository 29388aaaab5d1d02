package app

import (
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/folkmoot/moot/endpoints/acp"
	"github.com/folkmoot/moot/internal/access"
)

// A toolOffer is how agents of the rooms that this process runs reach its tools.
type toolOffer struct {
	keys *access.Keys
	url  string // of streamable HTTP; "" is none
}

// OfferTools gives each agent of the rooms that this process runs a credential of its
// seat and the tools that it is for. It is called when the process listens: on its
// socket, and at an HTTP address unless that is "".
func (a *App) OfferTools(keys *access.Keys, address string) {
	o := &toolOffer{keys: keys}
	if u, err := url.Parse(address); err == nil && u.Scheme == "http" && isLoopback(u.Hostname()) {
		o.url = u.JoinPath("mcp").String() // elsewhere an agent may not trust the certificate
	}
	a.tools.Store(o)
}

// tokenLife bounds the time in which an agent can use the token of a session. The next
// session gets another one.
const tokenLife = 7 * 24 * time.Hour

// toolServer returns the tool server for a session of a seat.
func (a *App) toolServer(room, seat string) (acp.ToolServer, bool) {
	o := a.tools.Load()
	if o == nil || o.keys == nil {
		return acp.ToolServer{}, false
	}
	token, _, err := o.keys.Mint(access.Grant{Name: "the agent " + seat, Scope: access.Talk, Room: room, Seat: seat, Expires: time.Now().Add(tokenLife)})
	self, err2 := os.Executable()
	data, err3 := filepath.Abs(a.Settings.Data)
	if err != nil || err2 != nil || err3 != nil {
		a.Log.Warn("an agent gets no tools", "room", room, "seat", seat, "errors", []error{err, err2, err3})
		return acp.ToolServer{}, false
	}
	return acp.ToolServer{
		Name: "moot", Token: token, URL: o.url,
		Command: []string{self, "mcp", "--room", room}, Env: []string{"MOOT_TOKEN=" + token, "MOOT_DATA=" + data},
	}, true
}
