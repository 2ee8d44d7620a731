package sqlstore

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"syscall"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/guard/sqlstore"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

type postgres struct{ process }

const postgresUser = "postgres"

// postgresProgram returns the path of a program of the newest PostgreSQL. Debian does not put the server's programs into PATH.
func postgresProgram(t testing.TB, name string) string {
	t.Helper()
	paths, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	sort.Strings(paths)
	if len(paths) > 0 {
		return paths[len(paths)-1]
	}
	return testkit.Program(t, name, "postgresql")
}

var postgresTemplate = template(func(t testing.TB) string {
	dir, err := os.MkdirTemp("", "sql")
	require.NoError(t, err)
	folders = append(folders, dir)
	run(t, exec.Command("chmod", "777", dir))
	run(t, as(postgresUser, postgresProgram(t, "initdb"), "-D", dir+"/data", "-U", "postgres", "-A", "trust", "-N", "--wal-segsize=1", "-E", "UTF8", "--locale=C"))
	return dir + "/data"
})

func newPostgres(t testing.TB) server {
	postgresProgram(t, "postgres")
	s := &postgres{process{account: postgresUser, dir: newFolder(t, postgresUser)}}
	postgresTemplate(t, s.folder())
	s.start(t)
	return s
}

func (s *postgres) dialect() sqlstore.Dialect { return sqlstore.PostgreSQL }
func (s *postgres) folder() string            { return filepath.Join(s.dir, "data") }

// start starts the server. Commits are not on the disk before somebody asks for it: a kill of the server loses commits. In a
// benchmark, the server has its usual settings.
func (s *postgres) start(t testing.TB) {
	args := []string{"-D", s.folder(), "-k", s.dir, "-c", "listen_addresses="}
	if !measured(t) {
		args = append(args, "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "wal_writer_delay=10s", "-c", "min_wal_size=2MB", "-c", "shared_buffers=16MB")
	}
	s.launch(t, postgresProgram(t, "postgres"), args...)
	driver, source := s.source("")
	s.wait(t, driver, source)
}

func (s *postgres) stop(testing.TB) { s.end(syscall.SIGINT) }
func (s *postgres) kill(testing.TB) {
	s.end(syscall.SIGKILL)
	_ = os.Remove(filepath.Join(s.folder(), "postmaster.pid"))
}

func (s *postgres) restored(t testing.TB, folder string) server {
	r := &postgres{process{account: postgresUser, dir: newFolder(t, postgresUser)}}
	run(t, exec.Command("cp", "-a", folder, r.folder()))
	_ = os.Remove(filepath.Join(r.folder(), "postmaster.pid"))
	return r
}

func (s *postgres) dump(t testing.TB) string {
	file := filepath.Join(t.TempDir(), "dump")
	run(t, exec.Command(postgresProgram(t, "pg_dump"), "-h", s.dir, "-U", "postgres", "-f", file, "postgres"))
	return file
}

func (s *postgres) load(t testing.TB, dump string) {
	run(t, exec.Command(postgresProgram(t, "psql"), "-h", s.dir, "-U", "postgres", "-q", "-v", "ON_ERROR_STOP=1", "-f", dump, "postgres"))
}

func (s *postgres) source(user string) (string, string) {
	if user == "" {
		user = "postgres"
	}
	return "pgx", fmt.Sprintf("host=%s user=%s database=postgres", s.dir, user)
}
