package dedup

import (
	"bufio"
	"container/list"
	"crypto/sha256"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// Once calls next once per Idempotency-Key. If next fails, Once calls it for another request with the key that comes to
// this process within a day. next fails if its first final status is 500 or above, or if it panics before it has a
// status. All other requests with a known key get status 409.
//
// Put http.TimeoutHandler around Once, not inside: its 503 would count as a failure while the handler still runs.
func Once(seen *Days, next http.Handler) http.Handler {
	var failed failures // a filter cannot forget a key, so failures are kept here
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if key == "" {
			http.Error(w, "Idempotency-Key is missing", http.StatusBadRequest)
			return
		}
		came := time.Now()
		isNew, err := seen.Add([]byte(key))
		if err != nil {
			http.Error(w, "try again later", http.StatusServiceUnavailable)
			return
		}
		if again := failed.take(key); !isNew && !again {
			http.Error(w, "there was a request with this Idempotency-Key", http.StatusConflict)
			return
		}
		answer := &recorder{ResponseWriter: w}
		finished := false
		defer func() {
			if answer.status >= 500 || answer.status == 0 && !finished { // finished is false in a panic
				failed.add(key, came)
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

// failures has the keys of failed requests, the newest maxFailures. A dropped key is still in the filter, so its
// requests get 409.
type failures struct {
	mu    sync.Mutex
	of    map[[sha256.Size]byte]*list.Element
	order list.List // of failure, the oldest first
}

type failure struct {
	key  [sha256.Size]byte // hash of the key, which may be long
	came time.Time
}

func (f *failures) add(key string, came time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[[sha256.Size]byte]*list.Element{}
	}
	sum := sha256.Sum256([]byte(key))
	f.remove(sum)
	f.of[sum] = f.order.PushBack(failure{sum, came})
	if f.order.Len() > maxFailures {
		f.remove(f.order.Front().Value.(failure).key)
	}
}

// take removes a key. It reports whether the key was there and not too old.
func (f *failures) take(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	came, ok := f.remove(sha256.Sum256([]byte(key)))
	return ok && time.Since(came) < rememberFor
}

func (f *failures) remove(sum [sha256.Size]byte) (came time.Time, ok bool) {
	e, ok := f.of[sum]
	if !ok {
		return time.Time{}, false
	}
	delete(f.of, sum)
	return f.order.Remove(e).(failure).came, true
}

// A recorder records the first final status of a response, which is the one that the client gets.
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
