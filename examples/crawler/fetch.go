package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	agent     = "bloom-crawler" // the name in robots.txt
	userAgent = agent + "/1.0 (+https://github.com/seed3447c163/bloom)"
	timeout   = 10 * time.Second // per request
	maxBody   = 4 << 20          // bytes read per page or robots.txt
	maxHops   = 10               // consecutive redirects
	tries     = 3                // of a page in one run
)

// A temporaryError is an error after which the page may be fetched later: the server does not answer or is busy.
type temporaryError struct {
	error
	busy  bool          // if true, the host gets no request for a while
	after time.Duration // from Retry-After
}

// An answer has the links of a page, or its redirect.
type answer struct {
	base     *url.URL // base URL of the links
	links    []string
	redirect string
}

// fetch gets a page. After temporary errors it tries again, with growing pauses. While a host is busy, no other page of
// it is requested.
func (c *crawler) fetch(ctx context.Context, u *url.URL) (got answer, err error) {
	host := c.hosts[u.Host]
	for try := range tries {
		if err := host.wait(ctx); err != nil {
			return got, err
		}
		if host.forbids(u) {
			return got, errors.New("robots.txt forbids it")
		}
		got, err = c.get(ctx, u)
		var later temporaryError
		if !errors.As(err, &later) {
			host.answered()
			return got, err
		}
		switch pause := c.pause << try; {
		case ctx.Err() != nil:
			return got, err
		case later.busy:
			host.rest(min(max(pause, later.after), c.maxPause))
		case try+1 < tries:
			sleep(ctx, pause)
		}
	}
	host.failed()
	return got, err
}

// sleep returns after a pause or when ctx ends.
func sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

// get requests a page once.
func (c *crawler) get(ctx context.Context, u *url.URL) (got answer, err error) {
	resp, err := c.request(ctx, u)
	if err != nil {
		return got, temporaryError{error: err}
	}
	body := resp.Body.(*body)
	defer body.Close()
	got.base, got.redirect = u, resp.Header.Get("Location")
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch status := resp.StatusCode; {
	case status/100 == 3 && got.redirect != "":
		return got, nil
	case status >= 500 || status == http.StatusTooManyRequests:
		busy := status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests
		return got, temporaryError{errors.New(resp.Status), busy, retryAfter(resp.Header.Get("Retry-After"))}
	case status/100 != 2:
		return got, errors.New(resp.Status)
	}
	got.redirect = ""
	if mediaType == "text/html" {
		got.base, got.links, err = readLinks(body, u)
	}
	if body.broken != nil {
		return got, temporaryError{error: body.broken}
	}
	return got, err
}

// retryAfter returns the time in a Retry-After header, in seconds or until a date, or 0.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return time.Until(at)
	}
	return 0
}

// request sends a request. The body of the response is a *body.
func (c *crawler) request(ctx context.Context, u *url.URL) (*http.Response, error) {
	req := &http.Request{Method: http.MethodGet, URL: u, Header: http.Header{"User-Agent": {userAgent}}}
	resp, err := c.client.Do(req.WithContext(ctx))
	if err == nil {
		resp.Body = &body{ReadCloser: resp.Body, url: u, left: maxBody}
	}
	return resp, err
}

// A body reads at most the first maxBody bytes of a response.
type body struct {
	io.ReadCloser
	url    *url.URL
	left   int
	broken error // why it could not be read
}

func (b *body) Read(p []byte) (n int, err error) {
	if b.left == 0 {
		if n, _ := io.ReadFull(b.ReadCloser, make([]byte, 1)); n > 0 {
			log.Printf("only the first %d bytes are read: %s", maxBody, b.url)
		}
		return 0, io.EOF
	}
	n, err = b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	if err != nil && err != io.EOF {
		b.broken = fmt.Errorf("reading the answer: %w", err)
	}
	return n, err
}
