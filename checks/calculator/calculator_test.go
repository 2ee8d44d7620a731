// Package calculator tests the calculator page in a real Chromium.
package calculator

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/dustin/go-humanize"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// TestPage: the page works under any path, shows the library's numbers and how it read the fields, keeps
// them in its address, announces problems, fits a phone, can be used by keyboard and screen reader,
// and asks no other host for anything.
func TestPage(t *testing.T) {
	chromium := testkit.Program(t, "chromium", "chromium")
	dir := t.TempDir()
	build := exec.Command("go", "run", "./calculator", "-out", dir)
	build.Dir, build.Env = filepath.Join("..", "..", "cmd"), append(os.Environ(), "GOWORK=")
	said, err := build.CombinedOutput()
	require.NoError(t, err, "%s", said)
	files := http.StripPrefix("/some/path", http.FileServer(http.Dir(dir)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store") // or the browser takes a file that is missing from its cache
		files.ServeHTTP(w, r)
	}))
	defer server.Close()

	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	ctx, end := chromedp.NewContext(allocator)
	defer end()
	var mu sync.Mutex
	var complaints []string
	require.NoError(t, chromedp.Do(ctx)) // starts the browser
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown, *runtime.EventConsoleAPICalled:
			mu.Lock()
			complaints = append(complaints, fmt.Sprintf("%+v", e))
			mu.Unlock()
		}
	}))
	open := func(address string) {
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(address), chromedp.WaitReady("body[data-ready=yes]")))
	}
	ask := func(expression string) string {
		value, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf("String(%s)", expression)))
		require.NoError(t, err, expression)
		return value
	}
	text := func(id string) string { return ask(fmt.Sprintf("document.getElementById(%q).textContent", id)) }
	enter := func(id, value string) { // as typing does
		ask(fmt.Sprintf(`(e => { e.value = %q; return e.dispatchEvent(new Event('input', { bubbles: true })) })(document.getElementById(%q))`, value, id))
	}
	row := func(name string) string {
		return ask(fmt.Sprintf(`[...document.querySelectorAll('#result tr')].find(r => r.cells[0].textContent === %q)?.cells[1].textContent`, name))
	}

	open(server.URL + "/some/path/")
	for _, c := range []struct {
		name, n, p string
		s          bloom.Strategy
		keys       uint64
		rate       float64
	}{
		{"DoubleHashing", "1000000", "1%", bloom.DoubleHashing, 1e6, 0.01}, {"Blocked", "1e8", "1/1000", bloom.Blocked, 1e8, 0.001},
		{"SeededHashing", "10k", "1,5%", bloom.SeededHashing, 1e4, 0.015}, {"SplitBlock", "1 000 000", "0,01", bloom.SplitBlock, 1e6, 0.01},
	} {
		enter("strategy", c.name)
		enter("n", c.n)
		enter("p", c.p)
		scheme, err := bloom.NewScheme(c.keys, c.rate, bloom.WithStrategy(c.s))
		require.NoError(t, err)
		f := scheme.Params()
		require.Equal(t, humanize.Comma(int64(f.M)), row("Bits (m)"), "%+v", c)
		require.Equal(t, c.name, row("Strategy"))
		require.Equal(t, fmt.Sprint(f.K), row("Bits set per key (k)"))
		require.Equal(t, fmt.Sprintf("%.2f", float64(f.M)/float64(f.N)), row("Bits per key"))
		require.Contains(t, text("code"), fmt.Sprintf("bloom.New(%d, %v", c.keys, c.rate))
		require.Equal(t, "= "+humanize.Comma(int64(c.keys)), text("n-read"))
		require.Empty(t, text("problem"))
	}

	enter("n", "20M")
	enter("unit", "8192")
	address, bits := ask("location.href"), row("Bits (m)")
	require.Contains(t, address, "/some/path/#")
	open(address)
	require.Equal(t, "20M 0,01 8192", ask(`['n', 'p', 'unit'].map(id => document.getElementById(id).value).join(' ')`))
	require.Equal(t, bits, row("Bits (m)"))
	ask(`document.getElementById('copy').click()`)
	require.Eventually(t, func() bool { return text("copied") != "" }, time.Minute, 10*time.Millisecond)

	const marked = `[...document.querySelectorAll('[aria-invalid]')].map(e => e.id + ' ' + e.getAttribute('aria-invalid')).join()`
	require.Empty(t, ask(marked))
	enter("p", "many")
	require.Contains(t, text("problem"), `p = "many", want a rate between 0 and 1`)
	require.Equal(t, "p true", ask(marked))
	require.Equal(t, "alert", ask(`document.getElementById('problem').role`))
	enter("p", "0.01")
	enter("m", "0.5")
	require.Contains(t, text("problem"), "n, p and m contradict each other")
	require.Empty(t, text("code"))
	require.Empty(t, ask(marked))
	enter("m", "100000")
	require.Contains(t, text("note"), "of the bits that you give are not needed")
	enter("m", "")
	enter("p", "1e-30") // an error of the library
	require.Equal(t, "p true", ask(marked))
	enter("strategy", "DoubleHashing")
	enter("p", "1e-19")
	require.Empty(t, text("problem"))
	require.NotEmpty(t, ask(`document.querySelector('.rate').getAttribute('d')`))
	open(server.URL + "/some/path/#n=" + strings.Repeat("9", 5000))

	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile)))
	require.Equal(t, "true", ask(`document.documentElement.scrollWidth <= innerWidth`), "the page is wider than a phone")
	enter("n", "1000")
	const height = `document.querySelector('svg text').getBoundingClientRect().height`
	require.Eventually(t, func() bool { return ask(height+" >= 12") == "true" }, time.Minute, 10*time.Millisecond, "labels are small: %s", ask(height))
	require.Equal(t, "true", ask(`document.documentElement.scrollWidth <= innerWidth`), "the curve is wider than a phone")
	require.Equal(t, "0.001 %", ask(`[...document.querySelectorAll('svg text')].map(e => e.textContent).filter(l => l.length === 7).join()`))
	require.Equal(t, "true", ask(`[...document.querySelectorAll('svg text')].every(e => e.getBBox().x >= 0)`), "a label is clipped")
	const controls = `[...document.querySelectorAll('input, select, button')]`
	require.Equal(t, "0", ask(controls+`.filter(e => !e.labels.length && !e.ariaLabel && !e.textContent).length`), "without a name")
	require.Equal(t, "0", ask(controls+`.filter(e => e.tabIndex < 0).length`), "not by keyboard")
	require.Empty(t, ask(fmt.Sprintf(`performance.getEntriesByType('resource').map(e => e.name).filter(u => !u.startsWith(%q) && !u.startsWith('data:')).join()`, server.URL)))

	mu.Lock()
	require.Empty(t, complaints, "on the console")
	mu.Unlock()

	// What is missing is named, and nothing can be copied. In a file: address no script runs.
	for missing, want := range map[string]string{"bloom.wasm": "bloom.wasm: 404", "wasm_exec.js": "could not start", "page.js": "Loading"} {
		require.NoError(t, os.Rename(filepath.Join(dir, missing), filepath.Join(dir, "away")))
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(server.URL+"/some/path/")))
		require.Eventually(t, func() bool { return strings.Contains(text("problem")+text("note"), want) }, time.Minute, 10*time.Millisecond, missing)
		require.Equal(t, want == "Loading", text("problem") == "", "only a problem is an alert")
		require.Equal(t, want == "Loading", text("note") != "")
		require.Equal(t, "true", ask(`document.getElementById('copy').hidden`), missing)
		require.NoError(t, os.Rename(filepath.Join(dir, "away"), filepath.Join(dir, missing)))
	}
}
