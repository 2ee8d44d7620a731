package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// StartTLS starts a server that also listens for TLS. It returns the address for TLS, and a client's configuration that
// trusts the server.
func StartTLS(t testing.TB, args ...string) (s *Server, addr string, config *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600))
		return path
	}
	cert, port := write("cert", "CERTIFICATE", der), FreePort(t)
	s = Start(t, append([]string{"--tls-port", fmt.Sprint(port), "--tls-cert-file", cert, "--tls-ca-cert-file", cert,
		"--tls-key-file", write("key", "PRIVATE KEY", secret), "--tls-auth-clients", "no"}, args...)...)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return s, fmt.Sprintf("127.0.0.1:%d", port), &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// An HAProxy is a running haproxy in front of a server.
type HAProxy struct {
	Addr   string
	socket string
}

// StartHAProxy starts a haproxy that closes connections without traffic after idle.
func StartHAProxy(t testing.TB, target string, idle time.Duration) *HAProxy {
	t.Helper()
	path := "/usr/sbin/haproxy" // Debian's path; not every user has it in PATH
	if _, err := os.Stat(path); err != nil {
		path = Program(t, "haproxy")
	}
	dir, err := os.MkdirTemp("", "haproxy") // t.TempDir may have a comma, a special character in haproxy's paths
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &HAProxy{fmt.Sprintf("127.0.0.1:%d", FreePort(t)), filepath.Join(dir, "s")}
	config := filepath.Join(dir, "haproxy.cfg")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `global
  stats socket %s mode 600 level admin
defaults
  mode tcp
  timeout connect 5s
  timeout client %dms
  timeout server %[2]dms
frontend front
  bind %s
  default_backend back
backend back
  server one %s
`, p.socket, idle.Milliseconds(), p.Addr, target), 0o600))
	process, exited := start(t, path, "-db", "-f", config)
	t.Cleanup(func() { process.Kill(); <-exited })
	Eventually(t, "haproxy listens", func() error {
		c, err := net.Dial("tcp", p.Addr)
		if err == nil {
			c.Close()
		}
		return err
	})
	return p
}

// SetServer puts the server into service, or takes it out.
func (p *HAProxy) SetServer(t testing.TB, ready bool) {
	t.Helper()
	c, err := net.Dial("unix", p.socket)
	require.NoError(t, err)
	defer c.Close()
	state := map[bool]string{true: "ready", false: "maint"}[ready]
	_, err = fmt.Fprintf(c, "set server back/one state %s\n", state)
	require.NoError(t, err)
	_, err = c.Read(make([]byte, 100)) // the answer
	require.NoError(t, err)
}
