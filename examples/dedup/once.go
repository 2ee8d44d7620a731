package dedup

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"net"
	"net/http"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Once calls next once per Idempotency-Key. If next fails, Once calls it again for a later request with the key, if
// that request comes to this process within a day. next fails if its first final status is 500 or above, or if it
// panics before it has a status. All other requests with a known key get status 409.
//
// Put http.TimeoutHandler around Once, not inside: its 503 would count as a failure while the handler still runs.
func Once(seen *Days, next http.Handler) http.Handler {
	// A filter cannot forget a key, so failures are kept here: the key's hash and when the request came. The oldest are
	// dropped; their keys are still in the filter, so further requests get 409.
	failed, _ := lru.New[[sha256.Size]byte, time.Time](maxFailures) // New fails only for a size below 1
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if key == "" {
			http.Error(w, "Idempotency-Key is missing", http.StatusBadRequest)
			return
		}
		now := seen.now()
		isNew, err := seen.Add([]byte(key))
		if err != nil {
			http.Error(w, "try again later", http.StatusServiceUnavailable)
			return
		}
		sum := sha256.Sum256([]byte(key))
		came, again := failed.Peek(sum)
		again = again && now.Sub(came) < rememberFor && failed.Remove(sum) // Remove returns true to one goroutine
		if !isNew && !again {
			http.Error(w, "there was a request with this Idempotency-Key", http.StatusConflict)
			return
		}
		answer := &recorder{ResponseWriter: w}
		finished := false
		defer func() {
			if answer.status >= 500 || answer.status == 0 && !finished { // finished is false in a panic
				failed.Add(sum, now)
			}
		}()
		next.ServeHTTP(answer, r)
		finished = true
	})
}

const (
	maxFailures = 10_000         // about 2 MB
	rememberFor = 24 * time.Hour // not longer than Days, because after that another process may win the key
)

// A recorder records the first final status of a response, the one that the client gets.
type recorder struct {
	http.ResponseWriter
	status int // 0 if none yet
}

func (r *recorder) note(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols { // others are informational
		r.note(status)
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(body []byte) (int, error) {
	r.note(http.StatusOK)
	return r.ResponseWriter.Write(body)
}

// FlushError sends the header, with 200 if there is no status yet. http.ResponseController calls it.
func (r *recorder) FlushError() error {
	err := http.NewResponseController(r.ResponseWriter).Flush()
	if !errors.Is(err, http.ErrNotSupported) {
		r.note(http.StatusOK)
	}
	return err
}

func (r *recorder) Flush() { _ = r.FlushError() }

// Hijack counts as success, because Once does not see what the client gets from then on.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffer, err := http.NewResponseController(r.ResponseWriter).Hijack()
	if err == nil {
		r.note(http.StatusSwitchingProtocols)
	}
	return conn, buffer, err
}

// Unwrap lets http.ResponseController set deadlines.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
