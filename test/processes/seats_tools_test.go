//go:build unix

package processes

import (
	"context"
	"encoding/json"
	"net/http"
	"os/exec"
	"regexp"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/folkmoot/moot/internal/api"
)

// A connector connects a client of the tools for agents. kill ends the client without
// closing its session.
type connector func(context.Context) (cs *sdk.ClientSession, kill func(), err error)

var problemCode = regexp.MustCompile(`\[([A-Z-]+)\]`)

// byTools calls the tools of a seat. A request that is not answered is the end of its
// client; the next one has another.
func byTools(connect connector, id, seat string) verb {
	var cs *sdk.ClientSession
	var kill func()
	return func(ctx context.Context, name string, in, out any) string {
		args := map[string]any{"room": id, "seat": seat}
		switch in := in.(type) {
		case api.Await:
			args["wait"] = 5
		case api.SeatAnswer:
			args["request"], args["text"] = in.Request, in.Text
		}
		if cs == nil {
			var err error
			if cs, kill, err = connect(ctx); err != nil {
				cs = nil
				return ""
			}
		}
		res, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: name + "_turn", Arguments: args})
		if err != nil {
			kill()
			cs = nil
			return ""
		}
		return resultOf(res, out)
	}
}

// resultOf reads the result of a tool into out.
func resultOf(res *sdk.CallToolResult, out any) (code string) {
	if res.IsError {
		for _, c := range res.Content {
			if text, ok := c.(*sdk.TextContent); ok {
				if found := problemCode.FindStringSubmatch(text.Text); found != nil {
					return found[1]
				}
			}
		}
		return "" // the server has gone
	}
	b, err := json.Marshal(res.StructuredContent)
	if err != nil || json.Unmarshal(b, out) != nil {
		return ""
	}
	return "ok"
}

func newToolClient() *sdk.Client {
	return sdk.NewClient(&sdk.Implementation{Name: "stub", Version: "1"}, nil)
}

// toolProcess is a connector to a process of `moot mcp`.
func (w *workbench) toolProcess(ctx context.Context) (*sdk.ClientSession, func(), error) {
	cmd := exec.Command("moot", "mcp")
	cmd.Dir, cmd.Env = w.dir, w.env
	kill := func() {
		if cmd.Process != nil {
			_ = cmd.Process.Kill() // it may have ended
		}
	}
	cs, err := newToolClient().Connect(ctx, &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		kill()
		return nil, nil, err
	}
	return cs, func() { kill(); _ = cs.Close() }, nil // its error is that of the kill
}

// toolsAt returns a connector to the tools on a socket.
func toolsAt(socket *http.Client) connector {
	return func(ctx context.Context) (*sdk.ClientSession, func(), error) {
		cs, err := newToolClient().Connect(ctx, &sdk.StreamableClientTransport{Endpoint: "http://moot/mcp", HTTPClient: socket}, nil)
		if err != nil {
			return nil, nil, err
		}
		return cs, func() { _ = cs.Close() }, nil // the server may have gone
	}
}
