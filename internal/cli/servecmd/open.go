package servecmd

import (
	"bytes"
	"context"
	"html/template"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/atomicfile"
)

// redirect is a page that leads a browser to an address.
var redirect = template.Must(template.New("redirect").Parse(`<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={{.}}">
<title>Folkmoot</title>
`))

// openBrowser opens the server in the user's browser and signs the browser in. The
// address has a code, which other users would see in the arguments of the browser. So
// the browser is given a file that only this user can read, and that leads there.
func (d *daemon) openBrowser(ctx context.Context) error {
	launch, err := d.server.LaunchURL(access.Admin)
	if err != nil {
		return err
	}
	d.Note("browser %s, once and for a minute", launch.URL)
	var page bytes.Buffer
	if err := redirect.Execute(&page, launch.URL); err != nil {
		return err
	}
	file := filepath.Join(d.Settings.Data, "server", "open.html")
	if err := atomicfile.Write(file, page.Bytes()); err != nil {
		return err
	}
	program, args := opener()
	if err := exec.CommandContext(ctx, program, append(args, file)...).Run(); err != nil && ctx.Err() == nil {
		d.Note("the browser was not opened: %v\n  fix: open the address above", err)
	}
	return nil
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
