package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/idna"
)

// A link is a reference as it stands on a page.
type link struct {
	href     string
	nofollow bool
}

// readLinks returns the links of an HTML page, and the URL that they are relative
// to: the page's own, unless it has a <base>.
func readLinks(page io.Reader, base *url.URL) (*url.URL, []link, error) {
	var links []link
	baseSeen := false
	z := html.NewTokenizer(page)
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); err != io.EOF {
				return nil, nil, err
			}
			return base, links, nil
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			href, ok := attr(t, "href")
			if !ok {
				continue
			}
			switch t.DataAtom {
			case atom.A, atom.Area:
				rel, _ := attr(t, "rel")
				links = append(links, link{href, slices.Contains(strings.Fields(strings.ToLower(rel)), "nofollow")})
			case atom.Base:
				// Only the first one counts, and only if it is a URL.
				if u, err := base.Parse(tidy(href)); err == nil && !baseSeen {
					base, baseSeen = u, true
				}
			}
		}
	}
}

func attr(t html.Token, key string) (value string, ok bool) {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val, true
		}
	}
	return "", false
}

// A target is a URL in its normal form: the filter knows URLs by their bytes, so
// two spellings of one page are two keys.
type target struct {
	origin string // scheme and host, such as https://example.org:8080
	path   string // path and query, at least "/"
}

func (t target) String() string { return t.origin + t.path }

// resolve returns the normal form of a reference relative to base. It merges only
// spellings that RFC 3986, section 6.2, calls equivalent (case of scheme and
// host, default port, escapes, dot segments), and by custom the order of query
// parameters with different names. The fragment is dropped, since it isn't sent.
// A trailing slash stays: /a and /a/ may be different pages.
func resolve(base *url.URL, ref string) (target, error) {
	u, err := base.Parse(tidy(ref))
	if err != nil {
		return target{}, cmp.Or(errors.Unwrap(err), err) // without the URL, which the caller shows
	}
	defaultPort := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	if defaultPort == "" || u.Host == "" {
		return target{}, errors.New("not an http or https URL")
	}
	host, err := idna.ToASCII(strings.ToLower(u.Host))
	if err != nil {
		return target{}, err
	}
	host = strings.TrimSuffix(strings.TrimSuffix(host, ":"), defaultPort)
	path := cmp.Or(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		// Parameters of the same name keep their order, which may have a meaning.
		params := strings.Split(u.RawQuery, "&")
		slices.SortStableFunc(params, func(a, b string) int {
			a, _, _ = strings.Cut(a, "=")
			b, _, _ = strings.Cut(b, "=")
			return cmp.Compare(a, b)
		})
		path += "?" + strings.Join(params, "&")
	}
	return target{u.Scheme + "://" + host, path}, nil
}

// toEscape is what a reference may have that is to be written differently.
var toEscape = regexp.MustCompile(`%[0-9A-Fa-f]{2}|["%<>]|[^!-~]`)

// tidy does to a reference what browsers do, and gives its escapes their normal
// form: upper case, and none for characters that never need one.
func tidy(ref string) string {
	ref = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(strings.Trim(ref, " \t\r\n\f"))
	return toEscape.ReplaceAllStringFunc(ref, func(c string) string {
		if plain, err := url.PathUnescape(c); err == nil && c[0] == '%' {
			if c = plain; unreserved.MatchString(c) {
				return c
			}
		}
		var escaped []byte
		for i := range len(c) {
			escaped = fmt.Appendf(escaped, "%%%02X", c[i])
		}
		return string(escaped)
	})
}

var unreserved = regexp.MustCompile(`[A-Za-z0-9._~-]`) // of RFC 3986, section 2.3
