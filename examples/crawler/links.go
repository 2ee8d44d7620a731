package main

import (
	"errors"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// readLinks returns the links of an HTML page and their base URL: the page's own, or that of <base>.
func readLinks(page io.Reader, base *url.URL) (*url.URL, []string, error) {
	doc, err := html.Parse(page)
	if err != nil {
		return nil, nil, err
	}
	var links []string
	for n := range doc.Descendants() {
		attrs := map[string]string{}
		for _, a := range n.Attr {
			attrs[a.Key] = a.Val
		}
		href, ok := attrs["href"]
		switch {
		case !ok || strings.Contains(strings.ToLower(attrs["rel"]), "nofollow"):
		case n.DataAtom == atom.A || n.DataAtom == atom.Area:
			links = append(links, href)
		case n.DataAtom == atom.Base:
			if u, err := base.Parse(strings.TrimSpace(href)); err == nil {
				base = u
			}
		}
	}
	return base, links, nil
}

var defaultPorts = map[string]string{"http": ":80", "https": ":443"}

// normalize returns the normal form of a reference relative to base, because two spellings of a URL would be two keys
// of the filter. It removes the differences that RFC 3986, section 6.2, calls equivalent (case of scheme and host,
// default port, escapes, dot segments) and, by convention, the order of query parameters. It drops user and fragment.
// It keeps a trailing slash, because /a and /a/ may be different pages.
func normalize(base *url.URL, ref string) (*url.URL, error) {
	u, err := base.Parse(strings.TrimSpace(ref))
	if err != nil {
		return nil, err
	}
	if defaultPorts[u.Scheme] == "" || u.Host == "" {
		return nil, errors.New("not an http or https URL")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, err
	}
	normal := &url.URL{
		Scheme: u.Scheme, Host: strings.TrimSuffix(strings.ToLower(u.Host), defaultPorts[u.Scheme]),
		Path: u.Path, RawQuery: query.Encode(),
	}
	if strings.Contains(strings.ToLower(u.RawPath), "%2f") { // an escaped slash is no separator
		normal.RawPath = u.RawPath
	}
	if u.Path == "" {
		normal.Path = "/"
	}
	return normal, nil
}
