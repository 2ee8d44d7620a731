package redisbloom

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// A proxy stands between a client and a server on loopback, and does to the
// connection what networks do.
type proxy struct {
	addr   string
	target string

	cutEvery atomic.Int64 // close the connection in place of every so many-th reply; 0: never
	replies  atomic.Int64
	cuts     atomic.Int64

	silent sync.RWMutex // held for writing: nothing passes, nothing is closed
}

func startProxy(t testing.TB, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{addr: l.Addr().String(), target: target}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.pass(c)
		}
	}()
	return p
}

func (p *proxy) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		defer server.Close()
		p.copy(server, client, func() bool { return false })
	}()
	// The replies to short commands come in one piece each.
	p.copy(client, server, func() bool {
		every := p.cutEvery.Load()
		if every == 0 || p.replies.Add(1)%every != 0 {
			return false
		}
		p.cuts.Add(1)
		return true
	})
}

// copy copies pieces until either side ends or cut says so.
func (p *proxy) copy(to io.Writer, from io.Reader, cut func() bool) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if err != nil || cut() {
			return
		}
		p.silent.RLock()
		_, err = to.Write(b[:n])
		p.silent.RUnlock()
		if err != nil {
			return
		}
	}
}
