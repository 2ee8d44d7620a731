package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
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

var errNotHTTP = errors.New("not an http or https URL")

// resolve returns the normal form of a reference relative to base. It merges only
// spellings that RFC 3986, section 6.2, calls equivalent (case of scheme and
// host, default port, escapes, dot segments), and by custom the order of query
// parameters with different names. The fragment is dropped, since it isn't sent.
// A trailing slash stays: /a and /a/ may be different pages.
//
// purell would be shorter, but it unescapes %2F and merges a=1&a=2 with a=2&a=1,
// and so takes different pages for one.
func resolve(base *url.URL, ref string) (target, error) {
	u, err := base.Parse(tidy(ref))
	if err != nil {
		// url.Error repeats the URL, which the caller shows.
		return target{}, cmp.Or(errors.Unwrap(err), err)
	}
	defaultPort := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	if defaultPort == "" || u.Host == "" {
		return target{}, errNotHTTP
	}
	host, err := idna.ToASCII(strings.ToLower(u.Host))
	if err != nil {
		return target{}, err
	}
	host = strings.TrimSuffix(strings.TrimSuffix(host, ":"), defaultPort)

	path := cmp.Or(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		path += "?" + sortQuery(u.RawQuery)
	}
	return target{u.Scheme + "://" + host, path}, nil
}

// sortQuery orders the parameters by name. Those of the same name keep their
// order, which may have a meaning.
func sortQuery(query string) string {
	params := strings.Split(query, "&")
	slices.SortStableFunc(params, func(a, b string) int {
		a, _, _ = strings.Cut(a, "=")
		b, _, _ = strings.Cut(b, "=")
		return cmp.Compare(a, b)
	})
	return strings.Join(params, "&")
}

// tidy does to a reference what browsers do, and gives its escapes their normal
// form: upper case, and none for characters that never need one.
func tidy(ref string) string {
	ref = strings.Trim(ref, " \t\r\n\f")
	var b strings.Builder
	for i := 0; i < len(ref); i++ {
		switch c := ref[i]; {
		case c == '\t' || c == '\r' || c == '\n':
			// a line break in an attribute
		case c == '%' && i+2 < len(ref) && isHex(ref[i+1:i+3]):
			x, _ := strconv.ParseUint(ref[i+1:i+3], 16, 8) // isHex says it is one
			writeEscaped(&b, byte(x), isUnreserved(byte(x)))
			i += 2
		default:
			writeEscaped(&b, c, c > ' ' && c < 0x7f && !strings.ContainsRune(`%"<>`, rune(c)))
		}
	}
	return b.String()
}

func writeEscaped(b *strings.Builder, c byte, plain bool) {
	if plain {
		b.WriteByte(c)
		return
	}
	fmt.Fprintf(b, "%%%02X", c)
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// isUnreserved is "unreserved" of RFC 3986, section 2.3.
func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
