package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
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
