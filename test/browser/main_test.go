package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == agentArgument {
		os.Exit(runAgent(os.Args[2]))
	}
	code := m.Run()
	if end := chromium.end; end != nil {
		end()
	}
	if dir := program.dir; dir != "" {
		_ = os.RemoveAll(dir) // a folder for temporary files
	}
	os.Exit(code)
}

// chromium is the one browser of all tests, because a start takes seconds. Each test
// has a profile of its own in it.
var chromium struct {
	once sync.Once
	ctx  context.Context
	err  error
	end  func()
}

// startChromium starts the browser at the first call.
func startChromium(path string) (context.Context, error) {
	chromium.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
			chromedp.WSURLReadTimeout(time.Minute), chromedp.WindowSize(1440, 900),
			chromedp.Flag("host-resolver-rules", "MAP rebind.example 127.0.0.1"), // of TestServer
			chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("font-render-hinting", "none"))
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, cancel := chromedp.NewContext(allocator)
		chromium.ctx, chromium.err = ctx, chromedp.Run(ctx)
		chromium.end = func() { cancel(); stop() }
	})
	return chromium.ctx, chromium.err
}

// program is the moot of all tests.
var program struct {
	once      sync.Once
	dir, path string
	err       error
}

// mootProgram builds moot at the first call and returns its path. The cache of
// compiled policies is shared too.
func mootProgram(t *testing.T) (path, cache string) {
	t.Helper()
	program.once.Do(func() {
		if program.dir, program.err = os.MkdirTemp("", "moot-browser-*"); program.err != nil {
			return
		}
		program.path = filepath.Join(program.dir, "moot")
		build := exec.Command("go", "build", "-o", program.path, "./cmd/moot")
		build.Dir = filepath.Join("..", "..")
		if out, err := build.CombinedOutput(); err != nil {
			program.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if program.err != nil {
		t.Fatal(program.err)
	}
	return program.path, filepath.Join(program.dir, "cache")
}
