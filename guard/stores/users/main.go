// Users is a small service: GET /name returns a value, PUT /name stores one, DELETE /name
// deletes it, GET / tells what the guard has done.
//
//	users [-dir folder] [-listen address]
//
// The values are in bbolt, behind a guard. Kill it as you like: after a restart the guard
// is ready as soon as it has read its file and the names that came since.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"log"
	"net/http"
	"path/filepath"
	"time"

	"github.com/seed3447c163/bloom/guard"
	"github.com/seed3447c163/bloom/guard/stores"
)

func main() {
	dir := flag.String("dir", "users", "`folder` for the database and the guard's file")
	listen := flag.String("listen", "localhost:8080", "`address` to listen on")
	flag.Parse()
	s, err := open(*dir)
	if err != nil {
		log.Fatal(err)
	}
	go s.live(context.Background(), time.Minute)
	log.Fatal(http.ListenAndServe(*listen, s))
}

type service struct {
	store stores.Store
	guard *guard.Guard
}

func open(dir string) (*service, error) {
	store, err := stores.OpenBolt(dir)
	if err != nil {
		return nil, err
	}
	full := guard.WithFull(func(g *guard.Guard) {
		if err := g.Rebuild(context.Background(), 2*g.Counts().N, 0.01); err != nil {
			log.Print("the filter stays as it is: ", err)
		}
	})
	g, err := guard.New(filepath.Join(dir, "names.guard"), 1_000_000, 0.01, store, full)
	return &service{store, g}, err
}

// live makes the guard ready, and saves it from time to time. What fails is tried again the
// next time: a disk may be full for a while.
func (s *service) live(ctx context.Context, every time.Duration) {
	err := s.guard.Open(ctx)
	for {
		if !s.guard.Ready() {
			log.Print("a bad file: ", err)
			err = s.guard.Rebuild(ctx, 1_000_000, 0.01)
		}
		if position, err := s.guard.Save(ctx); err != nil {
			log.Print("not saved: ", err)
		} else if err := s.store.Forget(position); err != nil {
			log.Print("not forgotten: ", err)
		} else {
			log.Print(s.guard)
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return
		}
	}
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := []byte(r.URL.Path[1:])
	value, found, err := []byte(nil), true, error(nil)
	switch {
	case len(name) == 0:
		value, err = json.Marshal(s.guard.Counts())
	case r.Method == http.MethodPut:
		if value, err = io.ReadAll(r.Body); err == nil {
			err = s.guard.Put(func() error { return s.store.Put([][]byte{name}, [][]byte{value}) }, name)
		}
	case r.Method == http.MethodDelete:
		err = s.store.Delete(name)
	default:
		value, found, err = guard.Get(r.Context(), s.guard, name, s.store.Get)
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
