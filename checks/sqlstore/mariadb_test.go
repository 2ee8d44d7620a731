package sqlstore

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/guard/sqlstore"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

type mariaDB struct {
	process
	options []string // of the program, beside the usual ones
}

const mariaUser = "mysql"

func init() { _ = mysql.SetLogger(quiet{}) } // of connections that a killed server has closed

type quiet struct{}

func (quiet) Print(...any) {}

func mariaProgram(t testing.TB, name string) string {
	t.Helper()
	if path := "/usr/sbin/" + name; name == "mariadbd" {
		if _, err := os.Stat(path); err == nil { // not in the PATH of all users
			return path
		}
	}
	return testkit.Program(t, name, "mariadb-server")
}

var mariaTemplate = template(func(t testing.TB) string {
	dir, err := os.MkdirTemp("", "sql")
	require.NoError(t, err)
	folders = append(folders, dir)
	run(t, exec.Command("chmod", "777", dir))
	run(t, as(mariaUser, mariaProgram(t, "mariadb-install-db"), "--no-defaults", "--datadir="+dir+"/data",
		"--auth-root-authentication-method=normal", "--innodb-log-file-size=8M"))
	return dir + "/data"
})

func newMariaDB(t testing.TB) server {
	mariaProgram(t, "mariadbd")
	s := &mariaDB{process: process{account: mariaUser, dir: newFolder(t, mariaUser)}}
	mariaTemplate(t, s.folder())
	s.start(t)
	db := open(t, s, "")
	execute(t, db, "ALTER DATABASE test COLLATE utf8mb4_nopad_bin")
	require.NoError(t, db.Close())
	return s
}

func (s *mariaDB) dialect() sqlstore.Dialect { return sqlstore.MySQL }
func (s *mariaDB) folder() string            { return filepath.Join(s.dir, "data") }

// start starts the server. Commits come to the disk once per second: a kill of the server loses commits. In a benchmark, the
// server has its usual settings.
func (s *mariaDB) start(t testing.TB) {
	args := []string{"--no-defaults", "--datadir=" + s.folder(), "--socket=" + s.dir + "/socket", "--skip-networking", "--pid-file=" + s.dir + "/pid"}
	if !measured(t) {
		args = append(args, "--innodb-log-file-size=8M", "--innodb-buffer-pool-size=16M", "--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync")
	}
	s.launch(t, mariaProgram(t, "mariadbd"), append(args, s.options...)...)
	s.wait(t, "mysql", "root@unix("+s.dir+"/socket)/test")
}

func (s *mariaDB) stop(testing.TB) { s.end(syscall.SIGTERM) }
func (s *mariaDB) kill(testing.TB) { s.end(syscall.SIGKILL) }

func (s *mariaDB) restored(t testing.TB, folder string) server {
	r := &mariaDB{process: process{account: mariaUser, dir: newFolder(t, mariaUser)}}
	run(t, exec.Command("cp", "-a", folder, r.folder()))
	return r
}

func (s *mariaDB) dump(t testing.TB) string {
	out, err := exec.Command(mariaProgram(t, "mariadb-dump"), "--no-defaults", "-uroot", "-S"+s.dir+"/socket", "test").Output()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "dump")
	require.NoError(t, os.WriteFile(file, out, 0o600))
	return file
}

func (s *mariaDB) load(t testing.TB, dump string) {
	run(t, exec.Command(mariaProgram(t, "mariadb"), "--no-defaults", "-uroot", "-S"+s.dir+"/socket", "-e", "source "+dump, "test"))
}

func (s *mariaDB) source(user string) (string, string) {
	if user == "" {
		user = "root"
	}
	return "mysql", fmt.Sprintf("%s@unix(%s/socket)/test", user, s.dir)
}
