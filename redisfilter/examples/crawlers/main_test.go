package main

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
	"github.com/stretchr/testify/require"
)

// TestCrawl moves a slot of the filter and kills a node during the crawl.
func TestCrawl(t *testing.T) {
	c := redistest.StartCluster(t, 3, true)
	client := c.Client()
	var out strings.Builder
	end := make(chan error, 1)
	go func() { end <- crawl(t.Context(), strings.Join(c.Addrs(), ","), "seen", 1, &out) }()
	redistest.Eventually(t, "the crawl begins", func() error {
		if n := client.BitCount(t.Context(), "seen", nil).Val(); n < 1000 {
			return fmt.Errorf("%d bits", n)
		}
		return nil
	})
	for _, to := range c.Masters() {
		c.Move("seen", to)
	}
	node, err := c.Master("seen")
	require.NoError(t, err)
	node.Kill()
	redistest.Eventually(t, "its replica takes over", func() error { _, err := c.Master("seen"); return err })
	require.Empty(t, end, "the crawl goes on")
	node.Start(t)
	require.NoError(t, <-end, out.String())
	require.Contains(t, out.String(), "not once and not reported: 0\n")
	require.Equal(t, 3, strings.Count(out.String(), "new to all crawlers"), out.String())
}

func TestNoServer(t *testing.T) {
	require.ErrorContains(t, crawl(t.Context(), "127.0.0.1:1", "seen", 0, io.Discard), "127.0.0.1:1")
}

// TestCount: nothing that goes wrong is silent.
func TestCount(t *testing.T) {
	s := &site{server: &httptest.Server{URL: "http://a"}, fetched: make([]atomic.Int32, 5)}
	for i, times := range []int32{1, 2, 0, 2, 0} {
		s.fetched[i].Store(times)
	}
	once, reported, silent := s.count(map[string]bool{s.url(0): true, s.url(1): true, s.url(2): true})
	require.Equal(t, []int{1, 2, 2}, []int{once, reported, silent})
}
