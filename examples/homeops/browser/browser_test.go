package browser

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var (
	required    = flag.Bool("required", false, "fail where no Chromium is installed, rather than skip")
	chromium    = flag.String("chromium", "chromium", "the browser's `command`")
	screenshots = flag.String("screenshots", "", "write what the browser shows into this `folder`")
)

// patience is how long a test waits for the browser, which answers at once
// unless the machine is busy.
const patience = 2 * time.Minute

// A window is a way to look at a page.
type window struct {
	name   string
	width  int64
	scheme string
}

var windows = []window{
	{"phone-light", 390, "light"},
	{"phone-dark", 390, "dark"},
	{"desk-light", 1280, "light"},
	{"desk-dark", 1280, "dark"},
}

// inEach runs a test in every window.
func inEach(t *testing.T, test func(t *testing.T, w window)) {
	t.Helper()
	for _, w := range windows {
		t.Run(w.name, func(t *testing.T) { test(t, w) })
	}
}

// tab is a page in the browser. A complaint by the browser, or a request for
// anything except the page, fails the test.
type tab struct {
	context.Context
	t *testing.T

	mu    sync.Mutex // guards what follows
	asked []string
}

// open shows a page in a browser of its own, whose folder is new and empty.
func open(t *testing.T, w window, url string) *tab {
	t.Helper()
	path, err := exec.LookPath(*chromium)
	switch {
	case err == nil:
	case *required:
		t.Fatalf("%v: scripts/chromium installs it", err)
	default:
		t.Skipf("NOTHING RAN: %v: scripts/chromium installs it (-required makes this a failure)", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx,
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("hide-scrollbars", true))
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{Context: ctx, t: t}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	scheme := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: w.scheme}}}
	b.do(
		chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, network.Enable, network.EnableParams{})
			_, media := cdp.Call(ctx, target, emulation.SetEmulatedMedia, scheme)
			return errors.Join(err, media)
		}),
		chromedp.EmulateViewport(w.width, 844),
		chromedp.Navigate(url),
	)
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, address := range b.asked {
			if address != url && address != strings.Replace(url, "x:"+token+"@", "", 1) {
				t.Errorf("the page asks for %s", address)
			}
		}
	})
	return b
}

func (b *tab) listen(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.mu.Lock()
		defer b.mu.Unlock()
		b.asked = append(b.asked, e.Request.URL)
	case *page.EventJavascriptDialogOpening:
		b.t.Errorf("a script runs: %s", e.Message)
	}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// get runs an action that has a result.
func get[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	answer, err := chromedp.Run(b, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer
}

// ask evaluates JavaScript in the page, although the page may not run any of
// its own.
func ask[T any](b *tab, script string) T {
	b.t.Helper()
	return get(b, chromedp.Evaluate[T](script))
}

// shoot writes a picture of the whole page.
func (b *tab) shoot(name string) {
	b.t.Helper()
	if *screenshots == "" {
		return
	}
	png := get(b, chromedp.FullScreenshot(100))
	if err := os.MkdirAll(*screenshots, 0o750); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*screenshots, fmt.Sprintf("%s.png", name)), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
