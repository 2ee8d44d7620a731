package prombloom

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
)

// program finds a program of Prometheus's.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("BLOOM_REQUIRE") != "" {
			t.Fatal(err)
		}
		t.Skipf("NOT TESTED: no %s here", name)
	}
	return path
}

// TestAlerts: a real Prometheus scrapes a full filter, a guard that lets too much
// through, one that is not ready, and one that cannot be asked, and alerts come for
// these, and for no good one. (The rules' waiting times are taken out, and what they
// ask of the last five minutes is asked of some seconds.)
func TestAlerts(t *testing.T) {
	server := program(t, "prometheus")
	c := New(0)
	full := bloom.MustNew(10, 0.01)
	for i := range 20 {
		full.Add([]byte{byte(i)})
	}
	c.Add("full", Local(full))
	c.Add("good", Local(bloom.MustNew(10, 0.01)))
	c.Add("silent", &remote{err: io.EOF})
	c.Add("unready", Local(newGuard(t)))
	leaky, tight := newGuard(t), newGuard(t)
	require.NoError(t, leaky.Open(t.Context()))
	require.NoError(t, tight.Open(t.Context()))
	c.Add("leaky", Local(leaky))
	c.Add("tight", Local(tight))
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(c))
	handler := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := range 200 { // the guards are used all the time
			ask(leaky, "0", "gone", fmt.Sprint("absent ", i))
			ask(tight, "0", fmt.Sprint("absent ", i))
		}
		handler.ServeHTTP(w, r)
	}))
	defer target.Close()

	dir := t.TempDir()
	rules, err := os.ReadFile("alerts.yml")
	require.NoError(t, err)
	text := regexp.MustCompile(`for: \d+m`).ReplaceAllString(string(rules), "for: 0s")
	text = strings.ReplaceAll(text, "[5m]", "[10s]")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "alerts.yml"), []byte(text), 0o600))
	config := fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [alerts.yml]
scrape_configs: [{job_name: test, static_configs: [{targets: [%q]}]}]
`, strings.TrimPrefix(target.URL, "http://"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600))
	api := start(t, server, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address=127.0.0.1:0")

	want := map[string]bool{"BloomFilterFull full": true, "BloomGuardFalsePositives leaky": true, "BloomGuardNotReady unready": true, "BloomFilterUnreachable silent": true}
	var got map[string]bool
	for t.Context().Err() == nil { // until the test's time is over
		got = alerts(t, api)
		for alert := range got {
			require.True(t, want[alert], alert)
		}
		if len(got) == len(want) {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	require.Equal(t, want, got)
}

var listening = regexp.MustCompile(`msg="Listening on" address=(\S+)`)

// start starts Prometheus on a port that it chooses, and returns its address.
func start(t *testing.T, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var log strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		fmt.Fprintln(&log, lines.Text())
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			go io.Copy(io.Discard, stderr)
			return "http://" + m[1]
		}
	}
	t.Fatal(log.String())
	return ""
}

// alerts returns those that fire.
func alerts(t *testing.T, api string) map[string]bool {
	t.Helper()
	answer, err := http.Get(api + "/api/v1/alerts")
	if err != nil {
		return nil // it is not there yet
	}
	defer answer.Body.Close()
	var got struct {
		Data struct {
			Alerts []struct {
				State  string
				Labels struct{ Alertname, Filter string }
			}
		}
	}
	_ = json.NewDecoder(answer.Body).Decode(&got) // an empty one, as long as it starts
	firing := map[string]bool{}
	for _, a := range got.Data.Alerts {
		if a.State == "firing" {
			firing[a.Labels.Alertname+" "+a.Labels.Filter] = true
		}
	}
	return firing
}
