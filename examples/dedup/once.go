package dedup

import (
	"net/http"
	"sync"
	"time"
)

// Once passes each Idempotency-Key to next once. If next panics or answers with 500 or above, the next
// request with the key is passed on too, if it comes to this process.
func Once(seen *Days, next http.Handler) http.Handler {
	var failed sync.Map // a filter cannot forget a key, so failures are kept here
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if key == "" {
			http.Error(w, "Idempotency-Key is missing", http.StatusBadRequest)
			return
		}
		isNew, err := seen.Add([]byte(key))
		if err != nil {
			http.Error(w, "try again later", http.StatusServiceUnavailable)
			return
		}
		if !isNew {
			if _, again := failed.LoadAndDelete(key); !again {
				http.Error(w, "there was a request with this Idempotency-Key", http.StatusConflict)
				return
			}
		}
		answer, finished := &recorder{ResponseWriter: w}, false
		defer func() {
			if !finished || answer.status >= 500 { // finished is false in a panic
				failed.Store(key, nil)
				time.AfterFunc(24*time.Hour, func() { failed.Delete(key) })
			}
		}()
		next.ServeHTTP(answer, r)
		finished = true
	})
}

// A recorder notes the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController flush and set deadlines.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
