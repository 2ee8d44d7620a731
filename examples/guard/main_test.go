package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A value survives a restart, and is found before and after the guard is ready.
func TestService(t *testing.T) {
	dir := t.TempDir()
	for round := range 2 {
		s, err := open(dir)
		require.NoError(t, err)
		ask := func(status int, answer, method, name string) {
			t.Helper()
			w := httptest.NewRecorder()
			s.ServeHTTP(w, &http.Request{Method: method, URL: &url.URL{Path: name}, Body: io.NopCloser(strings.NewReader("1815"))})
			require.Equal(t, status, w.Code)
			require.Contains(t, w.Body.String(), answer)
		}
		if round == 1 {
			ask(200, "1815", "GET", "/ada")
		}
		ctx, cancel := context.WithCancel(t.Context())
		saved, ended := make(chan error), make(chan error, 1)
		go func() {
			ended <- s.guard.Keep(ctx, time.Hour, func(position []byte, err error) {
				s.saved(position, err)
				saved <- err
			})
		}()
		require.NoError(t, <-saved)
		ask(200, "1815", "PUT", "/ada")
		ask(200, "1815", "GET", "/ada")
		ask(404, "", "GET", "/grace")
		ask(414, "a name of 32769 bytes, want at most 32768", "PUT", "/"+strings.Repeat("a", 1<<15+1))
		ask(200, `"spared":1`, "OPTIONS", "") // no path
		ask(200, "", "DELETE", "/ada")
		ask(404, "", "GET", "/ada")
		ask(200, "1815", "PUT", "/ada")
		_, err = openStore(dir)
		require.Error(t, err, "a second process")
		cancel()
		require.NoError(t, <-saved)
		require.ErrorIs(t, <-ended, context.Canceled)
		require.NoError(t, s.store.db.Close())
	}
}

// The program says what to try, that works, and it leaves no folder.
func TestRun(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, "", "localhost:0", in)
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	status := map[string]int{}
	for lines.Scan() {
		method, url, found := strings.Cut(strings.TrimSpace(lines.Text()), "http://")
		if !found {
			continue
		}
		url = "http://" + strings.Fields(url)[0]
		verb := map[bool]string{true: "PUT", false: "GET"}[strings.Contains(method, "PUT")]
		request, err := http.NewRequest(verb, url, strings.NewReader("1815"))
		require.NoError(t, err)
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		answer.Body.Close()
		status[verb+answer.Request.URL.Path] = answer.StatusCode
		if answer.Request.URL.Path == "/" {
			stop()
		}
	}
	require.Equal(t, map[string]int{"PUT/ada": 200, "GET/ada": 200, "GET/grace": 404, "GET/": 200}, status)
	require.NoError(t, <-ended)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}
