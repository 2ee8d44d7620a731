// Guard is a small service with a guard in front of its database: GET /name returns a value,
// PUT /name stores one, DELETE /name deletes it, and GET / returns what the guard has done.
//
//	guard [-dir folder] [-listen address]
//
// The values are in bbolt. The service can be killed at any moment: after a restart the guard reads
// its file and the names that were put since.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"log"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/guard"
)

func main() {
	dir := flag.String("dir", "users", "`folder` for the database and the guard's file")
	listen := flag.String("listen", "localhost:8080", "`address` to listen on")
	flag.Parse()
	s, err := open(*dir)
	if err != nil {
		log.Fatal(err)
	}
	go s.guard.Keep(context.Background(), time.Minute, s.saved)
	log.Fatal(http.ListenAndServe(*listen, s))
}

type service struct {
	store *store
	guard *guard.Guard
}

func open(dir string) (*service, error) {
	store, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	// Strangers choose the names, so the filter has a secret. It must be the same after a
	// restart, so it is kept in the database.
	secret, err := store.secret()
	if err != nil {
		return nil, err
	}
	g, err := guard.New(filepath.Join(dir, "names.guard"), 1_000_000, 0.01, store, bloom.WithSecret(secret))
	return &service{store, g}, err
}

// saved deletes from the store's log the puts that are in the guard's file.
func (s *service) saved(position []byte, err error) {
	if err == nil {
		err = s.store.forget(position)
	}
	if err != nil {
		log.Print(err)
	}
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := []byte(strings.TrimPrefix(r.URL.Path, "/"))
	value, found, err := []byte(nil), true, error(nil)
	switch {
	case len(name) == 0:
		value, err = json.Marshal(s.guard.Metrics())
	case r.Method == http.MethodPut:
		if value, err = io.ReadAll(r.Body); err == nil {
			err = s.guard.Put(func() error { return s.store.put(name, value) }, name)
		}
	case r.Method == http.MethodDelete:
		err = s.store.delete(name)
	default:
		value, found, err = guard.Get(r.Context(), s.guard, name, s.store.get)
	}
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case !found:
		http.NotFound(w, r)
	default:
		_, _ = w.Write(value)
	}
}
