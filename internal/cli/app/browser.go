package app

import (
	"bytes"
	"context"
	"html/template"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/folkmoot/moot/internal/atomicfile"
)

// redirect is a page that leads a browser to an address.
var redirect = template.Must(template.New("redirect").Parse(`<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={{.}}">
<title>Folkmoot</title>
`))

// OpenBrowser opens an address with a launch code in the user's browser. Other users
// would see the code in the arguments of the browser. So the browser is given a file in
// the data folder that only this user can read, and that leads there.
func (a *App) OpenBrowser(ctx context.Context, file, url string) error {
	var page bytes.Buffer
	if err := redirect.Execute(&page, url); err != nil {
		return err
	}
	dir := filepath.Join(a.Settings.Data, "server")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file = filepath.Join(dir, file)
	if err := atomicfile.Write(file, page.Bytes()); err != nil {
		return err
	}
	program, args := opener()
	if err := exec.CommandContext(ctx, program, append(args, file)...).Run(); err != nil && ctx.Err() == nil {
		a.Note("the browser was not opened: %v\n  fix: open the address above", err)
	}
	return nil
}

// ShowPage prints an address with a launch code, and opens it if there is a browser.
func (a *App) ShowPage(ctx context.Context, file, url string) {
	a.Note("page %s, once and for a minute", url)
	if !HasBrowser() {
		return
	}
	if err := a.OpenBrowser(ctx, file, url); err != nil {
		a.Note("the browser was not opened: %v", err)
	}
}

// RoomURL adds to an address with a launch code where the browser goes when it is signed
// in: the page of a room, or that with all rooms.
func RoomURL(launch, room string) string {
	if room == "" {
		return launch
	}
	return launch + "/rooms/" + room
}

// opener returns the command that opens a file in the browser.
func opener() (program string, args []string) {
	if own := os.Getenv("BROWSER"); own != "" {
		return own, nil
	}
	switch runtime.GOOS {
	case "darwin":
		return "open", nil
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	}
	return "xdg-open", nil
}

// HasBrowser reports whether a browser can probably be opened here. On a machine that is
// used over a network it cannot.
func HasBrowser() bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return true
	}
	for _, name := range []string{"BROWSER", "DISPLAY", "WAYLAND_DISPLAY"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}
