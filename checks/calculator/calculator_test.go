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

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
)

var shots = flag.String("shots", "", "write screenshots to this folder")

// page builds the page, serves it, and opens it in a browser. What the browser complains
// of, and what it asks other hosts for, fails the test in the end.
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
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
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
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(server.URL), chromedp.WaitReady("body[data-ready=yes]")))
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

func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// The page shows the library's numbers.
func TestNumbers(t *testing.T) {
	ctx := page(t)
	for _, c := range []struct {
		n string
		p string
		s bloom.Strategy
	}{
		{"1000000", "1%", bloom.DoubleHashing}, {"1e8", "1/1000", bloom.Blocked}, {"20", "1e-6", bloom.DoubleHashing}, {"10k", "0.03", bloom.SeededHashing},
	} {
		enter(t, ctx, "strategy", c.s.Name())
		enter(t, ctx, "n", c.n)
		enter(t, ctx, "p", c.p)
		n := map[string]uint64{"1000000": 1e6, "1e8": 1e8, "20": 20, "10k": 1e4}[c.n]
		p := map[string]float64{"1%": 0.01, "1/1000": 0.001, "1e-6": 1e-6, "0.03": 0.03}[c.p]
		scheme, err := bloom.NewScheme(n, p, bloom.WithStrategy(c.s))
		require.NoError(t, err)
		require.Equal(t, grouped(scheme.Params().M), cell(t, ctx, "result", "Bits (m)"), "%+v", c)
		require.Equal(t, strconv.Itoa(scheme.Params().K), cell(t, ctx, "result", "Bits of a key (k)"))
		require.Equal(t, scheme.Strategy().Name(), cell(t, ctx, "result", "Strategy"))
		require.Empty(t, text(t, ctx, "problem"))
		require.Contains(t, text(t, ctx, "curve-text"), "with n ")
	}
	enter(t, ctx, "p", "1e-300")
	require.Contains(t, text(t, ctx, "problem"), "p = 1e-300")
	enter(t, ctx, "p", "many")
	require.Contains(t, text(t, ctx, "problem"), "not a number")
	enter(t, ctx, "p", "0.01")
	require.Empty(t, text(t, ctx, "problem"))
}

// A small filter's bits are those of the library.
func TestSmallFilter(t *testing.T) {
	ctx := page(t)
	enter(t, ctx, "small-n", "10")
	enter(t, ctx, "small-p", "0.1")
	enter(t, ctx, "keys", "one\ntwo")
	f := bloom.MustNew(10, 0.1)
	f.AddString("one")
	f.AddString("two")
	require.EqualValues(t, f.Stats().Ones, evaluate[int](t, ctx, `document.querySelectorAll('#bits .one, #bits .of-last').length`))
	var positions []string
	for _, at := range f.Scheme().AppendPositions(nil, []byte("two")) {
		positions = append(positions, strconv.FormatUint(at, 10))
	}
	require.Contains(t, text(t, ctx, "bits-text"), "bits "+strings.Join(positions, ", ")+".")
}

// A file is described and asked.
func TestFile(t *testing.T) {
	ctx := page(t)
	f := bloom.MustNew(1000, 0.001)
	f.AddString("a key")
	data, err := f.MarshalBinary()
	require.NoError(t, err)
	good, bad := filepath.Join(t.TempDir(), "keys.bloom"), filepath.Join(t.TempDir(), "bad.bloom")
	require.NoError(t, os.WriteFile(good, data, 0o644))
	require.NoError(t, os.WriteFile(bad, data[:100], 0o644))
	require.NoError(t, chromedp.Do(ctx, chromedp.SetUploadFiles("#file", []string{good}), chromedp.WaitVisible("#asking")))
	enter(t, ctx, "ask", "a key")
	require.Equal(t, strconv.FormatUint(f.Params().M, 10), cell(t, ctx, "info", "bits (m)"))
	require.Equal(t, "1", cell(t, ctx, "info", "keys, estimated"))
	require.Equal(t, "probably in it", text(t, ctx, "answer"))
	enter(t, ctx, "ask", "another")
	require.Equal(t, "definitely not in it", text(t, ctx, "answer"))
	require.NoError(t, chromedp.Do(ctx, chromedp.SetUploadFiles("#file", []string{bad}), chromedp.WaitNotVisible("#asking")))
	require.Contains(t, text(t, ctx, "file-problem"), "corrupt")
}

// The page fits a phone, every field can be reached by keyboard and has a name.
func TestPhoneAndKeyboard(t *testing.T) {
	ctx := page(t)
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile)))
	require.LessOrEqual(t, evaluate[int](t, ctx, `document.documentElement.scrollWidth`), evaluate[int](t, ctx, `innerWidth`), "the page is wider than the phone")
	require.Zero(t, evaluate[int](t, ctx, `[...document.querySelectorAll('input, select, textarea')].filter(e => !e.labels.length && !e.ariaLabel).length`))
	require.Zero(t, evaluate[int](t, ctx, `[...document.querySelectorAll('input, select, textarea')].filter(e => e.tabIndex < 0).length`))
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
