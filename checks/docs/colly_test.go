package docs

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gocolly/colly/v2"
	"github.com/gocolly/colly/v2/storage"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
)

func crawl(seen *bloom.BloomFilter, start string) error {
	c := colly.NewCollector(colly.Async(), colly.AllowURLRevisit()) // only the filter decides
	c.IgnoreRobotsTxt = false                                       // colly ignores robots.txt unless asked
	c.OnHTML("a[href]", func(link *colly.HTMLElement) {
		url, _, _ := strings.Cut(link.Request.AbsoluteURL(link.Attr("href")), "#") // /a#x is page /a
		if url != "" && seen.AddString(url) {
			link.Request.Visit(url)
		}
	})
	seen.AddString(start)
	defer c.Wait()
	return c.Visit(start)
}

type visits struct {
	storage.InMemoryStorage // keeps cookies
	seen                    *bloom.BloomFilter
}

func (v *visits) IsVisited(id uint64) (bool, error) {
	return v.seen.ContainsDigest(bloom.Digest64(id)), nil
}

func (v *visits) Visited(id uint64) error {
	if !v.seen.AddDigest(bloom.Digest64(id)) {
		return errors.New("already visited") // by another goroutine since IsVisited
	}
	return nil
}

// TestColly runs the recipes for colly: every page is fetched once. Each page has links to 20 others, all fetched at
// the same time. At most 400 of 10,000 planned keys are in the filter, so a false positive has a probability below
// 1e-30.
func TestColly(t *testing.T) {
	const pages = 400
	var mu sync.Mutex
	var fetched map[string]int
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
			return
		}
		mu.Lock()
		fetched[r.URL.Path]++
		mu.Unlock()
		var page int
		fmt.Sscanf(r.URL.Path, "/%d", &page)
		w.Header().Set("Content-Type", "text/html")
		for i := range 20 {
			fmt.Fprintf(w, `<a href="/%d#here">next</a>`, (page*7+i+1)%pages)
		}
		fmt.Fprint(w, `<a href="/private">not for robots</a>`)
	}))
	defer site.Close()
	for name, run := range map[string]func(seen *bloom.BloomFilter, start string) error{
		"AllowURLRevisit": crawl,
		"Storage": func(seen *bloom.BloomFilter, start string) error {
			c := colly.NewCollector(colly.Async())
			c.IgnoreRobotsTxt = false
			require.NoError(t, c.SetStorage(&visits{seen: seen}))
			c.OnHTML("a[href]", func(link *colly.HTMLElement) {
				url, _, _ := strings.Cut(link.Attr("href"), "#")
				_ = link.Request.Visit(url)
			})
			defer c.Wait()
			return c.Visit(start)
		},
	} {
		t.Run(name, func(t *testing.T) {
			fetched = map[string]int{}
			require.NoError(t, run(bloom.MustNew(10_000, 1e-12), site.URL+"/0"))
			mu.Lock()
			defer mu.Unlock()
			require.Len(t, fetched, pages)
			for path, times := range fetched {
				require.Equal(t, 1, times, path)
			}
		})
	}

	v := &visits{seen: bloom.MustNew(10_000, 1e-12)}
	for i := range uint64(400) { // one winner per id
		require.NoError(t, v.Visited(i))
		require.Error(t, v.Visited(i))
		visited, err := v.IsVisited(i)
		require.NoError(t, err)
		require.True(t, visited)
	}
}
