// Package calculator tests the calculator page in a real Chromium.
package calculator

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/dustin/go-humanize"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
)

var shots = flag.String("shots", "", "write screenshots to this folder")

// page builds the page, serves it and opens it in a browser. Messages on the console and requests
// to other hosts fail the test at its end.
func page(t *testing.T) context.Context {
	chromium, err := exec.LookPath("chromium")
	if err != nil && os.Getenv("BLOOM_REQUIRE") == "" {
		t.Skip("NOT TESTED without chromium (Debian: chromium): the calculator page")
	}
	require.NoError(t, err, "install Debian's package chromium")
	dir := t.TempDir()
	build := exec.Command("go", "run", "github.com/seed3447c163/bloom/docs/calculator", "-out", dir)
	build.Env = append(os.Environ(), "GOWORK=off")
	said, err := build.CombinedOutput()
	require.NoError(t, err, "%s", said)
	server := httptest.NewServer(http.StripPrefix("/some/path", http.FileServer(http.Dir(dir))))
	t.Cleanup(server.Close)

	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-quic", true))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...) // t.Context ends before the checks of the end
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(allocator)
	t.Cleanup(end)

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
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(server.URL+"/some/path/"), chromedp.WaitReady("body[data-ready=yes]")))
	t.Cleanup(func() {
		var elsewhere []string
		for _, url := range evaluate[[]string](t, ctx, `performance.getEntriesByType('resource').map(e => e.name)`) {
			if !strings.HasPrefix(url, server.URL) && !strings.HasPrefix(url, "data:") {
				elsewhere = append(elsewhere, url)
			}
		}
		require.Empty(t, elsewhere, "asked for outside of the page")
		mu.Lock()
		defer mu.Unlock()
		require.Empty(t, complaints, "on the console")
	})
	return ctx
}

func evaluate[T any](t *testing.T, ctx context.Context, expression string) T {
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	require.NoError(t, err, expression)
	return value
}

// enter puts a value into a field, as typing does.
func enter(t *testing.T, ctx context.Context, id, value string) {
	evaluate[bool](t, ctx, fmt.Sprintf(`(e => { e.value = %q; return e.dispatchEvent(new Event('input', { bubbles: true })) })(document.getElementById(%q))`, value, id))
}

// cell reads a cell of a table by the name of its row.
func cell(t *testing.T, ctx context.Context, table, row string) string {
	return evaluate[string](t, ctx, fmt.Sprintf(`[...document.querySelectorAll('#%s tr')].find(r => r.cells[0].textContent === %q)?.cells[1].textContent ?? ''`, table, row))
}

func text(t *testing.T, ctx context.Context, id string) string {
	return evaluate[string](t, ctx, fmt.Sprintf(`document.getElementById(%q).textContent`, id))
}

// TestNumbers: the page shows the library's numbers and what it read.
func TestNumbers(t *testing.T) {
	ctx := page(t)
	for _, c := range []struct {
		n, p string
		s    bloom.Strategy
		keys uint64
		rate float64
	}{
		{"1000000", "1%", bloom.DoubleHashing, 1e6, 0.01}, {"1e8", "1/1000", bloom.Blocked, 1e8, 0.001},
		{"10k", "1,5%", bloom.SeededHashing, 1e4, 0.015}, {"1 000 000", "0,01", bloom.SplitBlock, 1e6, 0.01},
	} {
		enter(t, ctx, "strategy", c.s.Name())
		enter(t, ctx, "n", c.n)
		enter(t, ctx, "p", c.p)
		scheme, err := bloom.NewScheme(c.keys, c.rate, bloom.WithStrategy(c.s))
		require.NoError(t, err)
		require.Equal(t, humanize.Comma(int64(scheme.Params().M)), cell(t, ctx, "result", "Bits (m)"), "%+v", c)
		require.Equal(t, strconv.Itoa(scheme.Params().K), cell(t, ctx, "result", "Bits set per key (k)"))
		require.Equal(t, humanize.Comma(int64(c.keys)), cell(t, ctx, "result", "Keys (n)"))
		require.Equal(t, scheme.Strategy().Name(), cell(t, ctx, "result", "Strategy"))
		require.Contains(t, text(t, ctx, "code"), fmt.Sprintf("bloom.New(%d, %v", c.keys, c.rate))
		require.Equal(t, "= "+humanize.Comma(int64(c.keys)), text(t, ctx, "n-read"))
		require.Empty(t, text(t, ctx, "problem"))
	}
	require.Contains(t, text(t, ctx, "p-read"), "1 %, one in 100")
}

// TestProblems are announced, and only the wrong field is marked.
func TestProblems(t *testing.T) {
	ctx := page(t)
	const marked = `[...document.querySelectorAll('[aria-invalid]')].map(e => e.id + ' ' + e.getAttribute('aria-invalid')).join()`
	require.Empty(t, evaluate[string](t, ctx, marked))
	enter(t, ctx, "p", "many")
	require.Contains(t, text(t, ctx, "problem"), `p = "many" is not a number`)
	require.Equal(t, "p true", evaluate[string](t, ctx, marked))
	enter(t, ctx, "p", "0.01")
	enter(t, ctx, "m", "0.5")
	require.Contains(t, text(t, ctx, "problem"), "n, p and m contradict each other")
	enter(t, ctx, "p", "")
	require.Empty(t, text(t, ctx, "problem"))
	require.Contains(t, text(t, ctx, "code"), "bloom.NewWithParams(")
	enter(t, ctx, "m", "0.0001")
	require.Contains(t, text(t, ctx, "problem"), "a rate of 1")
	require.Empty(t, text(t, ctx, "code"))
	require.Empty(t, evaluate[string](t, ctx, marked))
}

// TestAddressKeepsTheFields, under any path.
func TestAddressKeepsTheFields(t *testing.T) {
	ctx := page(t)
	enter(t, ctx, "n", "20M")
	enter(t, ctx, "p", "0,1%")
	enter(t, ctx, "unit", "8192")
	want := cell(t, ctx, "result", "Bits (m)")
	address := evaluate[string](t, ctx, "location.href")
	require.Contains(t, address, "/some/path/#")
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(address), chromedp.WaitReady("body[data-ready=yes]")))
	require.Equal(t, "20M", evaluate[string](t, ctx, `document.getElementById('n').value`))
	require.Equal(t, "8192", evaluate[string](t, ctx, `document.getElementById('unit').value`))
	require.Equal(t, want, cell(t, ctx, "result", "Bits (m)"))
	evaluate[bool](t, ctx, `document.getElementById('copy').click() === undefined`)
	require.Eventually(t, func() bool { return text(t, ctx, "copied") != "" }, 10*time.Second, 10*time.Millisecond)
}

// TestPhoneAndKeyboard: the page fits a phone; every field has a name and can be reached by keyboard.
func TestPhoneAndKeyboard(t *testing.T) {
	ctx := page(t)
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile)))
	require.LessOrEqual(t, evaluate[int](t, ctx, `document.documentElement.scrollWidth`), evaluate[int](t, ctx, `innerWidth`), "the page is wider than the phone")
	require.Zero(t, evaluate[int](t, ctx, `[...document.querySelectorAll('input, select, button')].filter(e => !e.labels.length && !e.ariaLabel && !e.textContent).length`))
	require.Zero(t, evaluate[int](t, ctx, `[...document.querySelectorAll('input, select, button')].filter(e => e.tabIndex < 0).length`))
	if *shots != "" {
		for _, scheme := range []string{"light", "dark"} {
			_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			require.NoError(t, err)
			require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(760, 900)))
			picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(*shots, "calculator-"+scheme+".png"), picture, 0o644))
		}
	}
}
