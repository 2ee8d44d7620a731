package main

import (
	"cmp"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/idna"
)

// A link is a reference on a page.
type link struct {
	href     string
	nofollow bool
}

// readLinks returns the links of an HTML page and the URL that they are relative to: the page's
// own, or that of <base>.
func readLinks(page io.Reader, base *url.URL) (*url.URL, []link, error) {
	doc, err := html.Parse(page)
	if err != nil {
		return nil, nil, err
	}
	var links []link
	baseSeen := false
	for n := range doc.Descendants() {
		attrs := map[string]string{}
		for _, a := range n.Attr {
			attrs[a.Key] = a.Val
		}
		href, ok := attrs["href"]
		switch {
		case !ok:
		case n.DataAtom == atom.A || n.DataAtom == atom.Area:
			links = append(links, link{href, slices.Contains(strings.Fields(strings.ToLower(attrs["rel"])), "nofollow")})
		case n.DataAtom == atom.Base && !baseSeen: // only the first one counts
			if u, err := base.Parse(tidy(href)); err == nil {
				base, baseSeen = u, true
			}
		}
	}
	return base, links, nil
}

// A target is a URL in its normal form: to the filter, two spellings of a URL are two keys.
type target struct {
	origin string // scheme and host, such as https://example.org:8080
	path   string // path and query, at least "/"
}

func (t target) String() string { return t.origin + t.path }

// resolve returns the normal form of a reference relative to base. It merges the spellings that
// RFC 3986, section 6.2, calls equivalent (case of scheme and host, default port, escapes, dot
// segments) and, by convention, the orders of query parameters. It drops the fragment. A trailing
// slash stays: /a and /a/ may be different pages.
func resolve(base *url.URL, ref string) (target, error) {
	u, err := base.Parse(tidy(ref))
	if err != nil {
		return target{}, cmp.Or(errors.Unwrap(err), err) // without the URL
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
	if !strings.Contains(strings.ToLower(u.RawPath), "%2f") { // an escaped slash is no separator
		u.RawPath = ""               // EscapedPath then chooses the usual escapes
		u = base.ResolveReference(u) // removes dot segments that were escaped
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return target{}, err
	}
	path := cmp.Or(u.EscapedPath(), "/")
	if len(query) > 0 {
		path += "?" + query.Encode() // sorted by name
	}
	return target{u.Scheme + "://" + host, path}, nil
}

// tidy removes the white space that browsers remove from a reference.
func tidy(ref string) string {
	return strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(strings.Trim(ref, " \t\r\n\f"))
}
