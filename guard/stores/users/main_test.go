package main

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestUsers: a value through a restart, with the guard ready and not.
func TestUsers(t *testing.T) {
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
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
		ended := make(chan bool)
		go func() { s.live(ctx, time.Millisecond); close(ended) }()
		for !s.guard.Ready() {
			time.Sleep(time.Millisecond)
		}
		code, _ := ask(s, "PUT", "ada", "1815")
		require.Equal(t, http.StatusOK, code)
		_, value := ask(s, "GET", "ada", "")
		require.Equal(t, "1815", value)
		code, _ = ask(s, "GET", "grace", "")
		require.Equal(t, http.StatusNotFound, code)
		_, counts := ask(s, "GET", "", "")
		require.Contains(t, counts, `"Spared":1`)
		code, _ = ask(s, "PUT", "gone", "x")
		require.Equal(t, http.StatusOK, code)
		code, _ = ask(s, "DELETE", "gone", "")
		require.Equal(t, http.StatusOK, code)
		code, _ = ask(s, "GET", "gone", "")
		require.Equal(t, http.StatusNotFound, code)
		cancel()
		<-ended
		require.NoError(t, s.store.Close())
	}
}

// TestSavesAgain: a save that fails is not the last one.
func TestSavesAgain(t *testing.T) {
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	dir := t.TempDir()
	inTheWay := filepath.Join(dir, "names.guard")
	require.NoError(t, os.Mkdir(inTheWay, 0o700))
	s, err := open(dir)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan bool)
	go func() { s.live(ctx, time.Millisecond); close(ended) }()
	for !s.guard.Ready() { // by a rebuild, as the folder is no file
		time.Sleep(time.Millisecond)
	}
	require.NoError(t, os.Remove(inTheWay))
	for {
		info, err := os.Stat(inTheWay)
		if err == nil && info.Mode().IsRegular() {
			break
		}
		select {
		case <-ended:
			t.Fatal("it saves no more")
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	<-ended
	require.NoError(t, s.store.Close())
}
