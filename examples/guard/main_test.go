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
	ask := func(s *service, method, name, body string) (int, string) {
		t.Helper()
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(method, "/"+name, strings.NewReader(body)))
		return w.Code, w.Body.String()
	}
	for round := range 2 {
		s, err := open(dir)
		require.NoError(t, err)
		if round == 1 {
			_, value := ask(s, "GET", "ada", "")
			require.Equal(t, "1815", value)
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
		code, _ := ask(s, "PUT", "ada", "1815")
		require.Equal(t, http.StatusOK, code)
		_, value := ask(s, "GET", "ada", "")
		require.Equal(t, "1815", value)
		code, _ = ask(s, "GET", "grace", "")
		require.Equal(t, http.StatusNotFound, code)
		code, _ = ask(s, "PUT", strings.Repeat("a", 1<<15+1), "1815")
		require.Equal(t, http.StatusRequestURITooLong, code)
		_, counts := ask(s, "GET", "", "")
		require.Contains(t, counts, `"spared":1`)
		code, _ = ask(s, "PUT", "gone", "x")
		require.Equal(t, http.StatusOK, code)
		code, _ = ask(s, "DELETE", "gone", "")
		require.Equal(t, http.StatusOK, code)
		code, _ = ask(s, "GET", "gone", "")
		require.Equal(t, http.StatusNotFound, code)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, &http.Request{Method: "OPTIONS", URL: &url.URL{Path: ""}})
		require.Equal(t, http.StatusOK, w.Code, "no path")
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
