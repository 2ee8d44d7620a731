// Guard is a small service with a guard in front of its database. GET /name returns a value, PUT /name stores one,
// DELETE /name deletes it, and GET / returns the metrics of the guard.
//
//	guard [-dir folder] [-listen address]
//
// The values are in bbolt. The service can be killed at any moment: after a restart with the same folder, the guard
// reads its file and the names that were put since. Without -dir, the service uses a temporary folder and removes it at
// Ctrl-C. If you restore an older copy of the database, delete names.guard.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/guard"
	"go.etcd.io/bbolt"
)

func main() {
	dir := flag.String("dir", "", "`folder` for the database and the guard's file, which is made if it is missing")
	listen := flag.String("listen", "localhost:8080", "`address` to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *dir, *listen, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx is done, and writes messages for the user to out.
func run(ctx context.Context, dir, address string, out io.Writer) (err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "guard"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s, err := open(dir)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	url := "http://" + listener.Addr().String()
	fmt.Fprintf(out, `The database and the guard's file are in %s. Try:

	curl -X PUT -d 1815 %[2]s/ada
	curl %[2]s/ada
	curl %[2]s/grace     # not there: the database is not asked
	curl %[2]s/          # what the guard has done

`, dir, url)
	server := &http.Server{Handler: s}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	kept := make(chan error, 1)
	go func() { kept <- s.guard.Keep(ctx, time.Minute, s.saved) }()
	select {
	case err = <-served:
		return err
	case <-ctx.Done():
	}
	err = server.Close()
	<-kept // Keep saves once more when ctx ends
	fmt.Fprintf(out, "The guard spared the database %.0f lookups. %.0f keys were found, %.0f lookups were false positives.\n",
		s.guard.Metrics()["spared"], s.guard.Metrics()["found"], s.guard.Metrics()["false_positives"])
	return errors.Join(err, s.store.db.Close())
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

// saved deletes the puts from the store's log that the guard's file has. Keep calls it after each save.
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
	if len(name) > bbolt.MaxKeySize { // the guard would remember each key that the store refuses
		http.Error(w, fmt.Sprintf("a name of %d bytes, want at most %d", len(name), bbolt.MaxKeySize), http.StatusRequestURITooLong)
		return
	}
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
