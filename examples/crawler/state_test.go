package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed3447c163/bloom/persist"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var kills = flag.Int("kills", 15, "how often TestKilledCrawl kills the crawler")

const childName = "BLOOM_CRAWLER_CHILD"

// TestMain runs the crawler itself where a test has started this binary again.
func TestMain(m *testing.M) {
	if os.Getenv(childName) != "" {
		main()
	}
	os.Exit(m.Run())
}

// copyCounts returns the requests so far.
func (s *countingServer) copyCounts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.requests)
}

// A crawl is killed again and again and goes on each time. In the end it has fetched
// every page that a crawl in peace fetches, and none more often than it was cut off.
func TestKilledCrawl(t *testing.T) {
	site := newCountingServer(t, slow(siteHandler(), time.Millisecond))
	const workers = 16
	flags := []string{"-rate", "0", "-workers", "16"}
	status, _, _ := runCrawler(t, append(flags, site.URL)...)
	require.Equal(t, 0, status)
	want := slices.Sorted(maps.Keys(site.copyCounts()))

	rnd := rand.New(rand.NewPCG(5, 6))
	killed, crawls, again := 0, 0, 0
	for killed < *kills {
		site.mu.Lock()
		site.requests = make(map[string]int)
		site.mu.Unlock()
		dir := filepath.Join(t.TempDir(), "state")
		cuts, patience := 0, 300*time.Millisecond
		for ended := false; !ended; {
			var out bytes.Buffer
			before := len(site.copyCounts())
			child := exec.Command(os.Args[0], append(flags, "-state", dir, site.URL)...)
			child.Env = append(os.Environ(), childName+"=1")
			child.Stdout, child.Stderr = &out, io.Discard
			require.NoError(t, child.Start())
			timer := time.AfterFunc(time.Duration(rnd.Int64N(int64(patience))), func() { child.Process.Kill() })
			err := child.Wait()
			if timer.Stop() || err == nil { // it had ended by itself
				require.NoError(t, err, out.String())
				require.Contains(t, out.String(), "done, no page is left to fetch")
				require.Equal(t, 0, value(t, out.String(), "not fetched"))
				ended = true
			} else {
				cuts++
			}
			if len(site.copyCounts()) == before { // it was killed before it had begun
				patience += 50 * time.Millisecond
			}
			if cuts > 300 {
				t.Fatal("the crawl gets nowhere")
			}
		}
		got := site.copyCounts()
		require.Equal(t, want, slices.Sorted(maps.Keys(got)), "after %d kills", cuts)
		twice := 0
		for path, n := range got {
			if path != "/robots.txt" {
				twice += n - 1
			}
		}
		require.LessOrEqual(t, twice, cuts*workers)
		killed, crawls, again = killed+cuts, crawls+1, again+twice
	}
	t.Logf("%d kills in %d crawls of %d URLs: every one fetched, %d fetched once more after a kill", killed, crawls, len(want), again)
}

// A page is done with in the log after all its links are found there: wherever a kill
// cuts the log, every page is in it or will be found again. In this site only one
// page links to each, so that no other makes up for it.
func TestLogOrder(t *testing.T) {
	links := func(path string) (hrefs []string) {
		for i := range 10 {
			if len(path) < 4 {
				hrefs = append(hrefs, fmt.Sprintf("%s%d", path, i))
			}
		}
		return hrefs
	}
	site := newCountingServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		htmlPage(links(r.URL.Path)...).ServeHTTP(w, r)
	}))
	dir := t.TempDir()
	status, out, _ := runCrawler(t, "-rate", "0", "-workers", "16", "-state", dir, site.URL)
	require.Equal(t, 0, status, out)
	log, err := os.ReadFile(filepath.Join(dir, "frontier.log"))
	require.NoError(t, err)

	found := map[string]bool{}
	done := 0
	for line := range strings.Lines(string(log)) {
		sign := line[0]
		_, path, _ := strings.Cut(strings.TrimSpace(line), site.URL)
		switch sign {
		case '+':
			found[path] = true
		case '-':
			done++
			for _, href := range links(path) {
				require.True(t, found[href], "%s is done with before its link %s is found", path, href)
			}
		}
	}
	require.Equal(t, 1111, done)
}

// openTestState opens a state for a crawl of http://example.org/.
func openTestState(t *testing.T, dir string) (*state, error) {
	start, err := resolve(&url.URL{}, "http://example.org/")
	require.NoError(t, err)
	return openState(config{state: dir, depth: 8, n: 1000, p: 1e-9, starts: []target{start}})
}

func found(t *testing.T, s *state, path string, depth int) page {
	p := page{target: target{"http://example.org", path}, depth: depth}
	require.True(t, s.add(p))
	return p
}

func TestStateResumes(t *testing.T) {
	dir := t.TempDir()
	s, err := openTestState(t, dir)
	require.NoError(t, err)
	one, two, three := found(t, s, "/1", 0), found(t, s, "/2%203?a=b+c", 1), found(t, s, "/3", 1)
	require.False(t, s.add(page{target: two.target}))
	s.done(one)
	require.NoError(t, s.close())

	s, err = openTestState(t, dir)
	require.NoError(t, err)
	require.Equal(t, []page{two, three}, s.pending)
	require.False(t, s.add(page{target: one.target}), "found by the earlier run")
	found(t, s, "/4", 2)
	require.NoError(t, s.close())
}

// Whatever a kill leaves of the log, and wherever it comes between log and filter, no
// page is lost: those that are not in the whole lines are new to the filter.
func TestStateAfterAnyCut(t *testing.T) {
	dir := t.TempDir()
	s, err := openTestState(t, dir)
	require.NoError(t, err)
	one := found(t, s, "/1", 0)
	found(t, s, "/2", 1)
	s.done(one)
	found(t, s, "/3", 1)
	require.NoError(t, s.close())
	logPath := filepath.Join(dir, "frontier.log")
	log, err := os.ReadFile(logPath)
	require.NoError(t, err)

	for length := range len(log) + 1 {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "frontier.log"), log[:length], 0o666))
		s, err := openTestState(t, dir) // with an empty filter, as if all adds were to come
		require.NoError(t, err)
		text := string(log[:bytes.LastIndexByte(log[:length], '\n')+1])
		for _, path := range []string{"/1", "/2", "/3"} {
			line := fmt.Sprintf(" http://example.org%s\n", path)
			isDone := path == "/1" && strings.Contains(text, "\n-0 http://example.org/1\n")
			waits := slices.ContainsFunc(s.pending, func(p page) bool { return p.path == path })
			require.Equal(t, strings.Contains(text, line) && !isDone, waits)
			require.Equal(t, strings.Contains(text, line), s.seen.ContainsString("http://example.org"+path))
		}
		require.NoError(t, s.close())
		after, err := os.ReadFile(filepath.Join(dir, "frontier.log"))
		require.NoError(t, err)
		if text != "" {
			require.Equal(t, text, string(after))
		}
	}
}

// Two workers may write the same new page; after a kill it waits once.
func TestStateSamePageTwice(t *testing.T) {
	dir := t.TempDir()
	s, err := openTestState(t, dir)
	require.NoError(t, err)
	p := found(t, s, "/1", 0)
	require.True(t, s.write("+0 http://example.org/1\n"))
	require.NoError(t, s.close())
	for range 2 {
		s, err = openTestState(t, dir)
		require.NoError(t, err)
		require.Equal(t, []page{p}, s.pending)
		require.NoError(t, s.close())
	}
}

func TestStateRefuses(t *testing.T) {
	site := newCountingServer(t, http.NotFoundHandler())
	dir := t.TempDir()
	run := func(args ...string) string {
		status, _, errOut := runCrawler(t, append(args, "-rate", "0", "-state", dir, site.URL)...)
		require.Equal(t, 1, status)
		return errOut
	}
	run("-depth", "3")
	assert.Contains(t, run("-depth", "4"), "line \"crawl depth 3 from ["+site.URL+"/]\\n\": want \"crawl depth 4")
	assert.Contains(t, run("-depth", "3", "-n", "5"), "n = 1000000")
	logPath := filepath.Join(dir, "frontier.log")
	log, err := os.ReadFile(logPath)
	require.NoError(t, err)
	for _, line := range []string{"hello", "+", "+7", "+x " + site.URL, "+7 x", "+7 ftp://x", "-", "-x", "*7 " + site.URL + "/"} {
		require.NoError(t, os.WriteFile(logPath, fmt.Appendf(nil, "%s%s\n", log, line), 0o666))
		assert.Contains(t, run("-depth", "3"), fmt.Sprintf("line %q: ", line+"\n"))
	}
}

// A crawl whose log can't be written ends at once, and says why.
func TestStateDiskFull(t *testing.T) {
	s, err := openTestState(t, t.TempDir())
	require.NoError(t, err)
	found(t, s, "/1", 0)
	require.NoError(t, s.log.Close())
	p := page{target: target{"http://example.org", "/2"}}
	stopped := false
	s.onError = func() { stopped = true }
	require.False(t, s.add(p))
	require.True(t, stopped)
	require.False(t, s.seen.ContainsString(p.String()), "the filter does not know what the log does not")
	require.ErrorIs(t, s.close(), os.ErrClosed)
}

// A folder is for one crawler at a time, and for the next one as soon as that has
// closed it. TestKilledCrawl shows that a killed one leaves it free.
func TestStateIsLocked(t *testing.T) {
	dir := t.TempDir()
	s, err := openTestState(t, dir)
	require.NoError(t, err)
	one := found(t, s, "/1", 0)
	_, err = openTestState(t, dir)
	require.ErrorContains(t, err, dir+": a crawler is already running on this folder")
	found(t, s, "/2", 0) // the first one is none the worse for it
	s.done(one)
	require.NoError(t, s.close())

	s, err = openTestState(t, dir)
	require.NoError(t, err)
	require.Len(t, s.pending, 1)
	require.NoError(t, s.close())

	logPath := filepath.Join(dir, "frontier.log")
	require.NoError(t, os.WriteFile(logPath, []byte("crawl of something else\n"), 0o666))
	_, err = openTestState(t, dir)
	require.ErrorContains(t, err, `line "crawl of something else`)
	require.NoError(t, os.Truncate(logPath, 0))
	s, err = openTestState(t, dir) // what cannot be opened is not left locked
	require.NoError(t, err)
	require.NoError(t, s.close())
}

var _ filter = (*persist.File)(nil)
