package dedup

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// request returns the status of the answer, or 0 if the connection was closed.
func request(t *testing.T, url, key string) int {
	r, err := http.NewRequest("POST", url, nil)
	require.NoError(t, err)
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	return answer.StatusCode
}

// once returns Once of a handler over a new folder, for n keys.
func once(t *testing.T, n uint64, handler http.HandlerFunc) (*Days, http.Handler) {
	seen, err := OpenDays(testkit.TempDir(t), n, secret)
	require.NoError(t, err)
	return seen, Once(seen, handler)
}

// TestOutcomes: only a handler that fails before it has answered is called again for the same key.
func TestOutcomes(t *testing.T) {
	write := func(w io.Writer) { fmt.Fprintln(w, "paid") }
	fail := func(w http.ResponseWriter) { http.Error(w, "failed", http.StatusInternalServerError) }
	hijack := func(w http.ResponseWriter) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
		_ = conn.Close()
	}
	for name, c := range map[string]struct {
		handler func(w http.ResponseWriter)
		status  int // of the first answer; 0 if the connection is closed
		again   bool
	}{
		"nothing":                  {func(http.ResponseWriter) {}, 200, false},
		"writes":                   {func(w http.ResponseWriter) { write(w) }, 200, false},
		"not found":                {func(w http.ResponseWriter) { w.WriteHeader(404) }, 404, false},
		"fails":                    {fail, 500, true},
		"fails, then writes":       {func(w http.ResponseWriter) { fail(w); write(w) }, 500, true},
		"two failures":             {func(w http.ResponseWriter) { w.WriteHeader(502); w.WriteHeader(200) }, 502, true},
		"writes, then fails":       {func(w http.ResponseWriter) { write(w); fail(w) }, 200, false},
		"succeeds, then fails":     {func(w http.ResponseWriter) { w.WriteHeader(201); fail(w) }, 201, false},
		"copies, then fails":       {func(w http.ResponseWriter) { _, _ = io.Copy(w, strings.NewReader("paid")); fail(w) }, 200, false},
		"flushes, then fails":      {func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush(); fail(w) }, 200, false},
		"old flush, then fails":    {func(w http.ResponseWriter) { w.(http.Flusher).Flush(); fail(w) }, 200, false},
		"announces, then succeeds": {func(w http.ResponseWriter) { w.WriteHeader(103); w.WriteHeader(200) }, 200, false},
		"announces, then fails":    {func(w http.ResponseWriter) { w.WriteHeader(103); fail(w) }, 500, true},
		"only announces":           {func(w http.ResponseWriter) { w.WriteHeader(103) }, 200, false},
		"panics":                   {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, 0, true},
		"announces, then panics":   {func(w http.ResponseWriter) { w.WriteHeader(103); panic(http.ErrAbortHandler) }, 0, true},
		"succeeds, then panics":    {func(w http.ResponseWriter) { w.WriteHeader(200); panic(http.ErrAbortHandler) }, 0, false},
		"fails, then panics":       {func(w http.ResponseWriter) { w.WriteHeader(500); panic(http.ErrAbortHandler) }, 0, true},
		"hijacks":                  {hijack, 201, false},
		"hijacks, then panics":     {func(w http.ResponseWriter) { hijack(w); panic(http.ErrAbortHandler) }, 201, false},
		"deadline": {func(w http.ResponseWriter) {
			require.NoError(t, http.NewResponseController(w).SetWriteDeadline(time.Time{}))
		}, 200, false},
	} {
		t.Run(name, func(t *testing.T) {
			calls, broken := 0, c.handler
			var seen *Days
			seen, handler := once(t, 100, func(w http.ResponseWriter, _ *http.Request) {
				isNew, err := seen.Add([]byte("key"))
				assert.True(t, !isNew && err == nil, "the handler is called before the key is added")
				if calls++; calls < 3 {
					broken(w)
				}
			})
			server := httptest.NewUnstartedServer(handler)
			server.Config.ErrorLog = log.New(io.Discard, "", 0) // superfluous WriteHeader, panics
			server.Start()
			defer server.Close()
			want := []int{c.status, 409, 409, 409}
			if c.again {
				want = []int{c.status, c.status, 200, 409}
			}
			for i, status := range want {
				require.Equal(t, status, request(t, server.URL, "key"), "request %d", i)
			}
			require.Equal(t, 400, request(t, server.URL, ""))
		})
	}
}

// TestTimeout: with http.TimeoutHandler around Once, the handler that goes on decides.
func TestTimeout(t *testing.T) {
	began, release := make(chan bool, 1), make(chan int)
	calls := 0
	_, handler := once(t, 100, func(w http.ResponseWriter, _ *http.Request) {
		calls++
		began <- true
		w.WriteHeader(<-release)
		release <- 0
	})
	impatient, patient := httptest.NewServer(http.TimeoutHandler(handler, time.Millisecond, "later")), httptest.NewServer(handler)
	defer impatient.Close()
	defer patient.Close()
	require.Equal(t, 503, request(t, impatient.URL, "key"))
	<-began
	require.Equal(t, 409, request(t, patient.URL, "key"), "the handler is still running")
	release <- 200
	<-release
	require.Equal(t, 409, request(t, patient.URL, "key"))
	require.Equal(t, 1, calls)
}

// TestFailures: the oldest failures are forgotten if there are many, and all after a day.
func TestFailures(t *testing.T) {
	seen, handler := once(t, 3*maxFailures, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	now := time.Now()
	seen.now = func() time.Time { return now }
	status := func(i int) int {
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/", nil)
		r.Header.Set("Idempotency-Key", fmt.Sprint(i))
		handler.ServeHTTP(w, r)
		return w.Code
	}
	for i := range maxFailures + 2 {
		require.Equal(t, 500, status(i))
	}
	require.Equal(t, []int{409, 409, 500, 500}, []int{status(0), status(1), status(2), status(maxFailures + 1)})
	now = now.Add(rememberFor - 1)
	require.Equal(t, 500, status(3))
	now = now.Add(1)
	require.Equal(t, []int{500, 409}, []int{status(3), status(4)})
}
