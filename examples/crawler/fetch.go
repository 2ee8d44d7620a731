package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/hashicorp/go-retryablehttp"
	whatwg "github.com/nlnwa/whatwg-url/url"
	"github.com/temoto/robotstxt"
	"golang.org/x/net/html/charset"
	"golang.org/x/time/rate"
)

const (
	agent    = "bloom-crawler" // the name in robots.txt
	maxBody  = 4 << 20         // bytes read per page or robots.txt
	maxPause = time.Minute     // a host that asks for a longer pause is left alone
)

var pause = time.Second // before the second try of a page; twice as long before the third

var (
	errLater     = errors.New("waits") // the server does not answer or is busy
	errForbidden = fmt.Errorf("%s: robots.txt", forbidden)
	errLarge     = fmt.Errorf("%s: only the links in the first %d MiB are followed", partly, maxBody>>20)
)

// urls reads URLs as browsers do. net/url refuses some of them, and writes others in another way.
var urls = whatwg.NewParser()

type address = whatwg.Url

func isWeb(u *address) bool { return strings.HasPrefix(u.Scheme(), "http") && u.Host() != "" }

// parts splits a URL, as urls writes it, into scheme, host, and the target of a request.
func parts(link string) (scheme, host, target string) {
	p := append(strings.SplitN(link, "/", 4), "", "", "")
	return strings.TrimSuffix(p[0], ":"), p[2], "/" + p[3]
}

// A host is a server, with the rules of its robots.txt. One goroutine uses it at a time.
type host struct {
	client  retryablehttp.Client
	limiter *rate.Limiter
	rules   *robotstxt.Group // nil before robots.txt was read
	inRow   int              // pages in a row that failed
	alone   bool             // it gets no more requests in this run
}

func (c *crawler) newHost() *host {
	h := &host{limiter: rate.NewLimiter(rate.Every(c.delay), 1)} // Every(0) is no limit
	h.client = retryablehttp.Client{
		HTTPClient: &c.client, RetryMax: 3, RetryWaitMin: pause, RetryWaitMax: maxPause,
		Backoff: retryablehttp.DefaultBackoff, ErrorHandler: retryablehttp.PassthroughErrorHandler,
		PrepareRetry: func(r *http.Request) error { return h.limiter.Wait(r.Context()) },
		CheckRetry: func(ctx context.Context, resp *http.Response, err error) (bool, error) {
			again, err := retryablehttp.DefaultRetryPolicy(ctx, resp, err)
			h.alone = h.alone || retryablehttp.DefaultBackoff(0, 0, 0, resp) > maxPause // the wait that Retry-After asks for
			return again && !h.alone, err
		},
	}
	return h
}

// redirects hides redirects from http.Client. The client would follow them, but a target must go through the filter
// first.
type redirects struct{ http.RoundTripper }

func (t redirects) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(r)
	if err == nil && resp.StatusCode/100 == 3 {
		resp.Header["Target"] = resp.Header["Location"]
		resp.Header.Del("Location")
	}
	return resp, err
}

// get requests a URL, up to four times. If the server still does not answer or is busy, the error wraps errLater. get
// reads up to maxBody+1 bytes of the body: the last one tells fetch that the page is too large.
func (h *host) get(ctx context.Context, link string) (resp *http.Response, body []byte, err error) {
	scheme, name, target := parts(link)
	u, err := url.Parse(link)
	if err != nil || u.RequestURI() != target {
		u = &url.URL{Scheme: scheme, Host: name, Opaque: target}
		if strings.HasPrefix(target, "//") { // otherwise "//" would begin a host
			u.Opaque = "//" + name + target
		}
	}
	header := http.Header{"User-Agent": {agent + "/1.0 (+https://github.com/seed3447c163/bloom)"}}
	req := &retryablehttp.Request{Request: (&http.Request{Method: "GET", URL: u, Header: header}).WithContext(ctx)}
	req.SetResponseHandler(func(resp *http.Response) (err error) { // if the body is cut off, get tries again
		body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
		return err
	})
	if err = h.limiter.Wait(ctx); err == nil {
		resp, err = h.client.Do(req)
	}
	if resp != nil {
		resp.Body.Close()
		if err == nil && (resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests) {
			err = errors.New(resp.Status)
		}
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", errLater, err)
	}
	return resp, body, err
}

// readRules reads robots.txt and follows up to five redirects (RFC 9309, 2.3.1.2). If it cannot be read, the host gets
// no more requests (2.3.1.4).
func (h *host) readRules(ctx context.Context, link string, delay time.Duration) error {
	at, err := urls.ParseRef(link, "/robots.txt")
	for hops := 0; err == nil; hops++ {
		resp, body, bad := h.get(ctx, at.Href(true))
		if err = bad; err != nil {
			break
		}
		if to := resp.Header.Get("Target"); to != "" && hops < 5 {
			at, err = at.Parse(to)
			continue
		}
		robots, bad := robotstxt.FromStatusAndBytes(resp.StatusCode, body[:min(len(body), maxBody)])
		if err = bad; err == nil {
			h.rules = robots.FindGroup(agent)
			h.limiter.SetLimit(rate.Every(max(delay, h.rules.CrawlDelay)))
			return nil
		}
	}
	h.alone = true
	return fmt.Errorf("%w: robots.txt: %w", errLater, err)
}

// An answer has the links of a page, or only the target if the page is a redirect.
type answer struct {
	base     *address // URL to which the links are relative
	links    []string
	redirect bool
}

// fetch gets a page and its links, if robots.txt allows it. If err is errLarge, got has the links of the part that was
// read.
func (c *crawler) fetch(ctx context.Context, h *host, link string) (got answer, err error) {
	if h.rules == nil {
		if err := h.readRules(ctx, link, c.delay); err != nil {
			return got, err
		}
	}
	if _, _, target := parts(link); !h.rules.Test(target) {
		return got, errForbidden
	}
	resp, body, err := h.get(ctx, link)
	if err != nil {
		return got, err
	}
	to := resp.Header.Get("Target")
	switch {
	case to != "":
		got = answer{links: []string{to}, redirect: true}
		got.base, err = urls.Parse(link)
	case resp.StatusCode/100 != 2:
		err = fmt.Errorf("%s: %s", failed, resp.Status)
	default:
		got, err = readLinks(link, body[:min(len(body), maxBody)], resp.Header.Get("Content-Type"))
		if err != nil {
			err = fmt.Errorf("%s: %w", failed, err)
		} else if len(body) > maxBody {
			err = errLarge
		}
	}
	return got, err
}

var (
	// In HTML, "/>" does not end these elements.
	emptyTag = regexp.MustCompile(`<(script|style|title|textarea|iframe|noscript)\b([^<>]*)/>`)
	letters  = regexp.MustCompile(`[^\x00-\x7f]+`)
)

// readLinks returns the links of a page, and its base URL: that of its base element, or otherwise link.
func readLinks(link string, body []byte, contentType string) (got answer, err error) {
	if contentType == "" {
		contentType = http.DetectContentType(body)
	}
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	if kind = strings.TrimSpace(kind); kind != "text/html" && kind != "application/xhtml+xml" {
		return got, nil
	}
	encoding, name, _ := charset.DetermineEncoding(body, contentType)
	if got.base, err = urls.Parse(link); err != nil {
		return got, err
	}
	text, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		return got, err
	}
	if kind != "text/html" {
		text = emptyTag.ReplaceAll(text, []byte("<$1$2></$1>"))
	}
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(text))
	if err != nil {
		return got, err
	}
	if own, err := got.base.Parse(doc.Find("base[href]").AttrOr("href", "")); err == nil && isWeb(own) {
		got.base = own
	}
	links := doc.Find("a[href], area[href]").Not("[rel~=nofollow i]")
	got.links = links.Map(func(_ int, link *goquery.Selection) string {
		ref := link.AttrOr("href", "")
		// The query is in the page's encoding.
		if path, query, ok := strings.Cut(ref, "?"); ok && !strings.HasPrefix(name, "utf-") {
			ref = path + "?" + letters.ReplaceAllStringFunc(query, func(s string) string {
				s, _ = encoding.NewEncoder().String(s)
				return url.QueryEscape(s)
			})
		}
		return ref
	})
	return got, nil
}
