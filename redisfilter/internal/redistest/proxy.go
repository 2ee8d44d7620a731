package redistest

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// A Proxy is between a client and a server on loopback, and simulates failures of a network.
type Proxy struct {
	Addr   string
	target string

	CutEvery atomic.Int64 // closes the connection instead of passing every CutEvery-th reply; 0 means never
	replies  atomic.Int64

	Silent sync.RWMutex // while it is locked, nothing passes and nothing is closed
}

func StartProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &Proxy{Addr: l.Addr().String(), target: target}
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

func (p *Proxy) pass(client net.Conn) {
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
	// The reply to a short command comes in one piece, so pieces are counted as replies.
	p.copy(client, server, func() bool {
		every := p.CutEvery.Load()
		return every > 0 && p.replies.Add(1)%every == 0
	})
}

// copy copies pieces until either side ends or cut returns true.
func (p *Proxy) copy(to io.Writer, from io.Reader, cut func() bool) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if err != nil || cut() {
			return
		}
		p.Silent.RLock()
		_, err = to.Write(b[:n])
		p.Silent.RUnlock()
		if err != nil {
			return
		}
	}
}
