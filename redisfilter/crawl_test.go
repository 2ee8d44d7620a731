package redisfilter_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/child"
)

var urls = flag.Int("urls", 300_000, "let TestCrawl find so `many` different URLs")

const (
	crawlers = 6
	popular  = 1000 // URLs, the first ones, to which all pages link
	perBatch = 3840 // new URLs
)

// share returns the URLs that a crawler is the first to find.
func share(n, crawler int) (from, to int) {
	return popular + (n-popular)*crawler/crawlers, popular + (n-popular)*(crawler+1)/crawlers
}

// A report is what has become of a batch.
type report struct {
	Batch    int // its first new URL; 0 when the process has ended
	Counts   map[string]int
	Won      []int // of the popular URLs, and of those that another crawler has confirmed
	Doubtful []int // of all
}

// crawler adds links in batches, and prints a report of each: for each new URL, one or two links to popular ones, and
// for some a link that another crawler has confirmed. It continues where a killed one has ended.
func crawler(args []string) error {
	me, err1 := strconv.Atoi(args[0])
	n, err2 := strconv.Atoi(args[1])
	client := watchedClient(args[2])
	file, err3 := os.OpenFile(args[3], os.O_RDWR, 0) // for each crawler, the URL up to which all are confirmed
	// The default number of shards for a billion URLs. Without WithWait, a failover can lose some, and says so.
	f, err4 := redisfilter.Open(bg, client, "crawl", uint64(n), 0.01, redisfilter.WithShards(41),
		redisfilter.WithCache(2<<30), redisfilter.WithWait(1, time.Second))
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	child.EndWithTest()
	confirmed := func(crawler int) int {
		b := make([]byte, 8)
		_, _ = file.ReadAt(b, int64(8*crawler)) // zeros if there is none yet
		return int(binary.LittleEndian.Uint64(b))
	}
	first, end := share(n, me)
	other := (me + 1) % crawlers
	others, _ := share(n, other)
	random, unconfirmed := rand.New(rand.NewPCG(uint64(me), 1)), 0
	for first = max(first, confirmed(me)); first < end; {
		last, known := min(first+perBatch, end), confirmed(other)-others
		var links []int
		for url := first; url < last; url++ {
			links = append(links, url)
			for range 1 + url%2 {
				links = append(links, random.IntN(popular))
			}
			if url%32 == 0 && known > 0 {
				links = append(links, others+random.IntN(known))
			}
		}
		keys, added := make([][]byte, len(links)), make([]bool, len(links))
		for i, url := range links {
			keys[i] = strconv.AppendInt([]byte("https://example.com/articles/"), int64(url), 10)
		}
		before := f.Metrics()
		_, err := f.AddMany(bg, keys, added)
		failed := &redisfilter.AddError{}
		if err != nil && !errors.As(err, &failed) || len(failed.NotAdded) > 0 {
			return err
		}
		r := report{Batch: first, Counts: map[string]int{"links": len(links), "new": last - first}}
		for i, url := range links {
			switch own := url >= first && url < last; {
			case added[i] && own:
				r.Counts["won"]++
			case added[i]:
				r.Won = append(r.Won, url)
			case own && errors.Is(err, redisfilter.ErrReplicas): // a false positive, maybe by bits that no replica has
				r.Doubtful = append(r.Doubtful, url)
			}
		}
		for _, i := range failed.Unsure {
			r.Doubtful = append(r.Doubtful, links[i])
		}
		r.Counts["Unsure"] = len(failed.Unsure)
		// A primary that dies between the answer and that of WAIT leaves adds Unconfirmed. If the new one lacks them,
		// the crawler is told of a loss.
		if errors.Is(err, redisfilter.ErrReplicas) {
			unconfirmed++
		}
		if errors.Is(err, redisfilter.ErrLost) && unconfirmed == 0 {
			r.Counts["unexplained losses"]++
		}
		for _, is := range []error{redisfilter.ErrLost, redisfilter.ErrRefused, redisfilter.ErrReplicas} {
			if errors.Is(err, is) {
				r.Counts[is.Error()]++
			}
		}
		for name, now := range f.Metrics() {
			r.Counts[name] = int(now - before[name])
		}
		first = last
		if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
			return err
		}
		if _, err := file.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(first)), int64(8*me)); err != nil {
			return err
		}
	}
	return nil
}

// TestCrawl is a crawl by several processes with a server and its replica. A crawler is killed and started again; the
// primary is killed and comes back as a replica. No URL is won twice, no confirmed one is forgotten, and the rate is at
// most p.
func TestCrawl(t *testing.T) {
	n, began, s := *urls, time.Now(), startWatched(t, 1)
	file := filepath.Join(t.TempDir(), "confirmed")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	reports := make(chan report, 1<<16)
	start := func(i int) *child.Process {
		p := child.Start(t, "crawler", fmt.Sprint(i), fmt.Sprint(n), s.addr, file)
		go func() {
			for line, ok := p.Line(); ok; line, ok = p.Line() {
				var r report
				if err := json.Unmarshal([]byte(line), &r); err != nil {
					t.Errorf("%s: %v", line, err)
				}
				reports <- r
			}
			reports <- report{}
		}()
		return p
	}
	var processes [crawlers]*child.Process
	for i := range processes {
		processes[i] = start(i)
	}
	total, batches := map[string]int{}, map[int]bool{}
	winners, doubtful := map[int]int{}, map[int]bool{}
	killed, restarted := false, false
	var primary, replica float64 // processor time until the failover
	for running := crawlers; running > 0; {
		switch r := <-reports; {
		case r.Batch > 0:
			if batches[r.Batch] { // it was killed before it could note that the batch was confirmed
				require.Zero(t, r.Counts["won"], "URLs won twice")
				delete(r.Counts, "new")
			}
			batches[r.Batch] = true
			for name, count := range r.Counts {
				total[name] += count
			}
			for _, url := range r.Won {
				if winners[url]++; url >= popular {
					winners[url]++ // the other crawler
				}
			}
			for _, url := range r.Doubtful {
				doubtful[url] = true
			}
		case killed && !restarted:
			restarted = true
			_ = processes[0].Wait()
			processes[0] = start(0)
		default:
			running--
		}
		switch {
		case !killed && total["new"] > n/3:
			killed = true
			require.NoError(t, processes[0].Process.Kill())
		case primary == 0 && total["new"] > n*2/3:
			primary, replica = cpu(t, s.primary.Client), cpu(t, s.replica.Client)
			t.Logf("replica: %.0f ns per key", replica/float64(total["redis_keys"]))
			s.failover(t)
			s.primary.Args = []string{"--replicaof", "127.0.0.1", fmt.Sprint(s.replica.Port)}
			s.primary.Start(t)
		}
	}
	primary += cpu(t, s.replica.Client) - replica
	t.Logf("primary: %.0f ns per key; %v; %v", primary/float64(total["redis_keys"]), time.Since(began).Round(time.Second), total)
	for _, p := range processes {
		p.Finish(t)
	}
	require.True(t, restarted)
	require.Equal(t, n-popular, total["new"])
	require.Zero(t, total["unexplained losses"])
	unexplained := n - popular - total["won"] - len(doubtful) - perBatch // which the killed crawler had sent
	require.Less(t, float64(unexplained), 0.0105*float64(n), "URLs without a winner")
	maps.DeleteFunc(winners, func(url, times int) bool { return times < 2 || doubtful[url] })
	require.Empty(t, winners, "URLs won twice")

	f, err := redisfilter.Join(bg, s.client, "crawl")
	require.NoError(t, err)
	lookUp := func(from, to int) (found, asked int) {
		step := max(1, (to-from)/1_000_000)
		for from < to {
			var keys [][]byte
			for ; from < to && len(keys) < 4000; from += step {
				if !doubtful[from] {
					keys = append(keys, keyOf(from))
				}
			}
			count, err := f.ContainsMany(bg, keys, nil)
			require.NoError(t, err)
			found, asked = found+count, asked+len(keys)
		}
		return found, asked
	}
	known, asked := lookUp(popular, n)
	require.Equal(t, asked, known, "confirmed URLs are missing")
	wrong, absent := lookUp(n, n+min(n, 1_000_000))
	t.Logf("%d of %d found; %d of %d false positives; %s", known, asked, wrong, absent,
		strings.Fields(s.replica.Client.Info(bg, "memory").Val())[2])
	require.Less(t, float64(wrong), 0.0105*float64(absent))
}
