package sqlstore

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A replica follows a server until lag is called, which waits until it has all that was saved. promote makes it a server.
type replica interface {
	server
	lag(t testing.TB, primary server)
	promote(t testing.TB)
}

// A replica that lacks the last puts, and perhaps the last position, takes the place of the server.
func TestLaggedReplica(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		if _, is := s.(sqlite); is {
			t.Skip("has no replicas")
		}
		w := newWorld(t, s)
		w.restart(t)
		w.put(t, "a")
		w.save(t)
		var r replica
		switch s := s.(type) {
		case *postgres:
			r = s.replica(t)
		case *mariaDB:
			r = s.replica(t)
		}
		w.put(t, "b")
		w.save(t)
		r.lag(t, s)
		early := w.at(t, s) // its file is from before the lag
		w.put(t, "c", "d")
		w.save(t)
		w.put(t, "e")
		s.kill(t)
		r.promote(t)
		w, early = w.at(t, r), early.at(t, r)
		require.Equal(t, "2", get(t, w.db, quoted(w, `SELECT COUNT(*) FROM {order}`)), "the replica lags")
		for i := range 4 {
			execute(t, w.db, quoted(w, fmt.Sprintf(insert, fmt.Sprint("new ", i))))
		}
		early.restart(t)
		require.Empty(t, early.lost(t))
		w.restart(t)
		require.Equal(t, 6, w.listed(), "all keys: the replica does not have the position")
		require.Empty(t, w.lost(t))
		w.save(t)
		w.restart(t)
		require.Zero(t, w.listed())
	})
}

type postgresReplica struct{ *postgres }

func (s *postgres) replica(t testing.TB) replica {
	r := &postgres{process{account: postgresUser, dir: newFolder(t, postgresUser)}}
	run(t, as(postgresUser, postgresProgram(t, "pg_basebackup"), "-h", s.dir, "-U", "postgres", "-D", r.folder(), "-R", "-c", "fast"))
	r.start(t)
	return postgresReplica{r}
}

func (r postgresReplica) lag(t testing.TB, primary server) {
	saved := get(t, open(t, primary, ""), `SELECT CAST(pg_current_wal_flush_lsn() AS text)`)
	db := open(t, r, "")
	for get(t, db, `SELECT CAST(CAST($1 AS pg_lsn) <= pg_last_wal_replay_lsn() AS text)`, saved) != "true" {
		time.Sleep(10 * time.Millisecond)
	}
	r.stop(t)
}

func (r postgresReplica) promote(t testing.TB) {
	r.start(t)
	require.Equal(t, "true", get(t, open(t, r, ""), `SELECT CAST(pg_promote() AS text)`))
}

type mariaDBReplica struct{ *mariaDB }

// replica makes one of a copy of the folder, which follows the log that the server begins at its next start.
func (s *mariaDB) replica(t testing.TB) replica {
	s.stop(t)
	r := &mariaDB{process: process{account: mariaUser, dir: newFolder(t, mariaUser)}}
	run(t, exec.Command("cp", "-a", s.folder(), r.folder()))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	s.options = []string{"--skip-skip-networking", "--bind-address=127.0.0.1", fmt.Sprint("--port=", port), "--log-bin=bin", "--server-id=1"}
	s.start(t)
	execute(t, open(t, s, ""), `CREATE USER follower@localhost`)
	execute(t, open(t, s, ""), `GRANT REPLICATION SLAVE ON *.* TO follower@localhost`)
	r.options = []string{"--server-id=2"}
	r.start(t)
	db := open(t, r, "")
	execute(t, db, fmt.Sprintf(`CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=%d, MASTER_USER='follower', MASTER_LOG_FILE='bin.000001', MASTER_LOG_POS=4`, port))
	execute(t, db, `START SLAVE`)
	return mariaDBReplica{r}
}

func (r mariaDBReplica) lag(t testing.TB, primary server) {
	var file, position, a, b string
	row := open(t, primary, "").QueryRow(`SHOW MASTER STATUS`)
	require.NoError(t, row.Scan(&file, &position, &a, &b))
	db := open(t, r, "")
	require.NotEqual(t, "-1", get(t, db, fmt.Sprintf(`SELECT COALESCE(MASTER_POS_WAIT('%s', %s, 20), 'not following')`, filepath.Base(file), position)))
	execute(t, db, `STOP SLAVE`)
}

func (r mariaDBReplica) promote(t testing.TB) { execute(t, open(t, r, ""), `RESET SLAVE ALL`) }
